"""The C kernel of dropout: its build, its arguments, and threads over groups of 128 numbers."""

import ctypes
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from bench.dropout.dropped import Dropped
from bench.native import build, threads
from bench.native.build import BuildError, Kernel
from bench.native.library import PRECISIONS, load

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


@cache
def library() -> ctypes.CDLL:
    """Load the kernel, compiled first if need be.

    Raises
    ------
    BuildError
        It cannot be compiled or loaded.
    """
    return load(build.library_path(KERNEL), DropArgs, ("drop",))


@cache
def best_isa() -> int:
    """Return the widest instruction set of this machine, a position in ``bench.native.library.ISA_NAMES``."""
    return library().best_isa()


def obstacle(kind: str) -> str | None:
    """Return why it cannot run on a kind of device, or None when it can. Compiles the kernel if need be."""
    if kind != "cpu":
        return "the native kernel runs on CPUs only"
    try:
        library()
    except BuildError as error:
        return str(error)
    return None


def multiply(x: Tensor, dropped: Dropped) -> Tensor:
    """Return a contiguous tensor, float32 or float64, times its factors."""
    y = torch.empty_like(x)
    args = DropArgs(
        x.numel(), dropped.seed, dropped.threshold, dropped.keep_scale, x.data_ptr(), y.data_ptr()
    )
    run = getattr(library(), f"drop_{PRECISIONS[x.dtype]}")
    n_groups = -(-x.numel() // KERNEL.limits["GROUP"])
    threads.for_each(
        lambda groups: run(ctypes.byref(args), groups.start, groups.stop, best_isa()), n_groups, SLICE_GROUPS
    )
    return y
