"""A compiled kernel as Python sees it: functions that run on a range, by precision and instruction set."""

import ctypes
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import torch

from bench.native.build import BuildError, Kernel, library_path

ISA_NAMES = ("portable", "avx2", "avx512")
PRECISIONS = {torch.float32: "float", torch.float64: "double"}


class Library:
    """A kernel that is compiled and loaded when it is first needed.

    Parameters
    ----------
    kernel
        What is compiled.
    arguments
        The structure of arguments; its size must be what the library's ``args_size`` says.
    functions
        Functions of these arguments, a range's start and stop, and a position in ``ISA_NAMES``; they exist for
        every precision, ``scan_forward_float`` for ``scan_forward``.
    """

    def __init__(self, kernel: Kernel, arguments: type[ctypes.Structure], functions: Sequence[str]) -> None:
        self.kernel, self._arguments, self._functions = kernel, arguments, functions

    @cached_property
    def loaded(self) -> ctypes.CDLL:
        """The library, compiled first if need be.

        Raises
        ------
        BuildError
            It cannot be compiled or loaded.
        """
        path = library_path(self.kernel)
        loaded = _opened(path)
        loaded.args_size.restype = ctypes.c_int64
        for name in self._functions:
            for precision in PRECISIONS.values():
                function = getattr(loaded, f"{name}_{precision}")
                function.argtypes = [
                    ctypes.POINTER(self._arguments), ctypes.c_int64, ctypes.c_int64, ctypes.c_int
                ]  # fmt: skip
                function.restype = ctypes.c_int
        expected = ctypes.sizeof(self._arguments)
        assert loaded.args_size() == expected, f"{path}: its arguments are not {self._arguments}"
        return loaded

    @cached_property
    def best_isa(self) -> int:
        """The widest instruction set of this machine, a position in ``ISA_NAMES``."""
        return self.loaded.best_isa()

    def obstacle(self, kind: str) -> str | None:
        """Return why it cannot run on a kind of device, or None when it can. Compiles the kernel if need be."""
        if kind != "cpu":
            return "the native kernel runs on CPUs only"
        try:
            _ = self.loaded
        except BuildError as error:
            return str(error)
        return None

    def run(self, name: str, args: ctypes.Structure, part: range, dtype: torch.dtype) -> None:
        """Run a function on a range, without Python's lock.

        Raises
        ------
        MemoryError
            There was no memory for scratch arrays.
        """
        function = getattr(self.loaded, f"{name}_{PRECISIONS[dtype]}")
        if function(ctypes.byref(args), part.start, part.stop, self.best_isa):
            raise MemoryError(f"{name}: no memory for the scratch arrays of {part.start} to {part.stop}")


def _opened(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise BuildError(f"{path}: cannot be loaded ({error}); delete it and try again") from error
