"""A compiled kernel as Python sees it: a library with functions that run on a range, by instruction set."""

import ctypes
from collections.abc import Iterable
from pathlib import Path

import torch

from bench.native.build import BuildError

ISA_NAMES = ("portable", "avx2", "avx512")
PRECISIONS = {torch.float32: "float", torch.float64: "double"}


def load(path: Path, arguments: type[ctypes.Structure], functions: Iterable[str]) -> ctypes.CDLL:
    """Load a compiled kernel.

    Parameters
    ----------
    path
        The compiled file.
    arguments
        The structure of arguments; its size must be what the library's ``args_size`` says.
    functions
        Functions of these arguments, a range's start and stop, and a position in ``ISA_NAMES``; they exist for
        every precision, ``scan_forward_float`` for ``scan_forward``.

    Raises
    ------
    BuildError
        It cannot be loaded.
    """
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise BuildError(f"{path}: cannot be loaded ({error}); delete it and try again") from error
    loaded.args_size.restype = ctypes.c_int64
    for name in functions:
        for precision in PRECISIONS.values():
            function = getattr(loaded, f"{name}_{precision}")
            function.argtypes = [ctypes.POINTER(arguments), ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
            function.restype = ctypes.c_int
    assert loaded.args_size() == ctypes.sizeof(arguments), f"{path}: its arguments are not {arguments}"
    return loaded
