"""The compiled kernel as Python sees it: its arguments, and what adds up the sums of its slices."""

import ctypes

import torch
from torch import Tensor

from bench.native.library import PRECISIONS, Library
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


SCAN = Library(KERNEL, ScanArgs, ("scan_forward", "scan_backward"))


def add_slices(args: ScanArgs, dtype: torch.dtype) -> None:
    """Add the sums of all slices, in order, into the first one's."""
    function = getattr(SCAN.loaded, f"scan_add_slices_{PRECISIONS[dtype]}")
    function.argtypes = [ctypes.POINTER(ScanArgs)]
    function(ctypes.byref(args))
