"""The C kernel of dropout: its build, its arguments, and threads over groups of 128 numbers."""

import ctypes
from pathlib import Path

import torch
from torch import Tensor

from bench.dropout.dropped import Dropped
from bench.native import threads
from bench.native.build import Kernel
from bench.native.library import Library

KERNEL = Kernel(
    name="dropout",
    sources=tuple(Path(__file__).parent / name for name in ("dropout.c", "body.h")),
    limits={"GROUP": 128},
)
# Groups that one thread takes at least: fewer are done before another thread has woken up.
SLICE_GROUPS = 512


class DropArgs(ctypes.Structure):
    """``drop_args`` of dropout.c, field by field."""

    _fields_ = [
        ("n", ctypes.c_int64),
        ("key", ctypes.c_uint64),
        ("threshold", ctypes.c_int64),
        ("keep_scale", ctypes.c_double),
        ("x", ctypes.c_void_p),
        ("y", ctypes.c_void_p),
    ]


DROPOUT = Library(KERNEL, DropArgs, ("drop",))


def obstacle(kind: str) -> str | None:
    """Return why it cannot run on a kind of device, or None when it can. Compiles the kernel if need be."""
    return DROPOUT.obstacle(kind)


def multiply(x: Tensor, dropped: Dropped) -> Tensor:
    """Return a contiguous tensor, float32 or float64, times its factors."""
    y = torch.empty_like(x)
    args = DropArgs(
        x.numel(), dropped.seed, dropped.threshold, dropped.keep_scale, x.data_ptr(), y.data_ptr()
    )
    n_groups = -(-x.numel() // KERNEL.limits["GROUP"])
    threads.for_each(lambda groups: DROPOUT.run("drop", args, groups, x.dtype), n_groups, SLICE_GROUPS)
    return y
