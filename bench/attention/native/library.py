"""The compiled kernel of attention as Python sees it: its arguments, and a function that runs it on pairs."""

import ctypes
from functools import cache

import torch
from torch import Tensor as TorchTensor

from bench.attention.native.build import KERNEL
from bench.native import build
from bench.native.library import PRECISIONS, load


class Strided(ctypes.Structure):
    """``tensor`` of attention.c: an address, and elements between neighbours along the four axes."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("batch", "head", "token", "feature")),
    ]  # fmt: skip

    @classmethod
    def of(cls, tensor: TorchTensor) -> "Strided":
        """Return that of a tensor ``(batch, heads, tokens, width)``, which the caller has to keep."""
        return cls(tensor.data_ptr(), *tensor.stride())


class AttentionArgs(ctypes.Structure):
    """``attention_args`` of attention.c, field by field."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("heads", "n_queries", "n_keys", "width", "v_width")),
        ("key", ctypes.c_uint64),
        ("threshold", ctypes.c_int64),
        ("keep_scale", ctypes.c_double),
        ("scale", ctypes.c_double),
        *((name, Strided) for name in ("q", "k", "v", "out")),
        ("maxima", ctypes.c_void_p),
        ("inverse_sums", ctypes.c_void_p),
        *((name, Strided) for name in ("d_out", "dq", "dk", "dv")),
    ]  # fmt: skip


@cache
def library() -> ctypes.CDLL:
    """Load the kernel, compiled first if need be.

    Raises
    ------
    BuildError
        It cannot be compiled or loaded.
    """
    return load(build.library_path(KERNEL), AttentionArgs, ("attention_forward", "attention_backward"))


@cache
def best_isa() -> int:
    """Return the widest instruction set of this machine, a position in ``bench.native.library.ISA_NAMES``."""
    return library().best_isa()


def run(direction: str, args: AttentionArgs, pairs: range, dtype: torch.dtype) -> None:
    """Run ``forward`` or ``backward`` on a range of pairs of window and head, without Python's lock.

    Raises
    ------
    MemoryError
        There was no memory for scratch arrays.
    """
    function = getattr(library(), f"attention_{direction}_{PRECISIONS[dtype]}")
    if function(ctypes.byref(args), pairs.start, pairs.stop, best_isa()):
        raise MemoryError(
            f"attention: no memory for the scratch arrays of {args.n_keys} keys of width {args.width}"
        )
