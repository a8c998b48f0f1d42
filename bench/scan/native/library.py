"""The compiled kernel as Python sees it: its arguments, and functions that run it on a range of samples."""

import ctypes
from functools import cache

import torch
from torch import Tensor

from bench.native import build
from bench.native.library import PRECISIONS, load
from bench.scan.native.build import KERNEL


class Strides(ctypes.Structure):
    """Elements between neighbours along the first three of four axes; along the last it is one."""

    _fields_ = [(name, ctypes.c_int64) for name in ("sample", "time", "direction")]

    @classmethod
    def of(cls, tensor: Tensor) -> "Strides":
        """Return those of a tensor."""
        assert tensor.stride(-1) == 1 or tensor.shape[-1] == 1, "the last axis must be contiguous"
        return cls(*tensor.stride()[:3])


_SIZES = (
    *("batch", "n_times", "n_directions", "dim", "padded_dim", "d_state", "chunk", "n_chunks"),
    *("u_directions", "slice_samples"),
)
_STRIDED = ("u", "delta", "B", "C", "dy")
_CONTIGUOUS = (
    *("A2", "D", "delta_bias", "y", "borders"),
    *("du", "ddelta", "dB", "dC", "dA2", "dD", "ddelta_bias"),
)


class ScanArgs(ctypes.Structure):
    """``scan_args`` of scan.c, field by field."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in _SIZES),
        *((name, ctypes.c_void_p) for name in ("reverse", *_STRIDED)),
        *((f"{name}_strides", Strides) for name in _STRIDED),
        *((name, ctypes.c_void_p) for name in _CONTIGUOUS),
    ]  # fmt: skip


@cache
def library() -> ctypes.CDLL:
    """Load the kernel, compiled first if need be.

    Raises
    ------
    BuildError
        It cannot be compiled or loaded.
    """
    loaded = load(build.library_path(KERNEL), ScanArgs, ("scan_forward", "scan_backward"))
    for precision in PRECISIONS.values():
        getattr(loaded, f"scan_add_slices_{precision}").argtypes = [ctypes.POINTER(ScanArgs)]
    return loaded


@cache
def best_isa() -> int:
    """Return the widest instruction set of this machine, a position in ``bench.native.library.ISA_NAMES``."""
    return library().best_isa()


def run(direction: str, args: ScanArgs, samples: range, dtype: torch.dtype) -> None:
    """Run ``forward`` or ``backward`` on a range of samples, without Python's lock.

    Raises
    ------
    MemoryError
        There was no memory for scratch arrays.
    """
    function = getattr(library(), f"scan_{direction}_{PRECISIONS[dtype]}")
    if function(ctypes.byref(args), samples.start, samples.stop, best_isa()):
        raise MemoryError(
            f"scan: no memory for the scratch arrays of samples {samples.start} to {samples.stop}"
        )


def add_slices(args: ScanArgs, dtype: torch.dtype) -> None:
    """Add the sums of all slices, in order, into the first one's."""
    getattr(library(), f"scan_add_slices_{PRECISIONS[dtype]}")(ctypes.byref(args))
