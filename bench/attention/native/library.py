"""The compiled kernel of attention as Python sees it, with its arguments."""

import ctypes

from torch import Tensor

from bench.attention.native.build import KERNEL
from bench.native.library import Library


class Strided(ctypes.Structure):
    """``tensor`` of attention.c: an address, and elements between neighbours along the four axes."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("batch", "head", "token", "feature")),
    ]  # fmt: skip

    @classmethod
    def of(cls, tensor: Tensor) -> "Strided":
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


ATTENTION = Library(KERNEL, AttentionArgs, ("attention_forward", "attention_backward"))
