"""Writes a ``.npy`` file of windows whose number is known only at the end."""

import os
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from bench.errors import DataError


class NpyStream:
    """A float32 array written block by block along its first axis; the header is put right on closing.

    Parameters
    ----------
    path
        File to write; the caller names a temporary one and renames it.
    shape
        Shape of one window.
    """

    def __init__(self, path: Path, shape: tuple[int, ...]) -> None:
        self.path = path
        self.shape = shape
        self.n_windows = 0

    def __enter__(self) -> "NpyStream":
        """Open the file and leave room for the header."""
        try:
            self._file = self.path.open("wb")
            self._write_header()
        except OSError as error:
            raise _unwritable(self.path, error) from error
        return self

    def append(self, windows: NDArray[np.float32]) -> None:
        """Write the next windows, ``(n, *shape)``.

        Raises
        ------
        DataError
            The disk is full or the file cannot be written.
        """
        assert windows.shape[1:] == self.shape, f"{windows.shape} does not fit (n, *{self.shape})"
        try:
            self._file.write(np.ascontiguousarray(windows, dtype="<f4").data)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self.n_windows += len(windows)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the true shape into the header and flush the file to the disk."""
        try:
            with self._file:
                self._file.seek(0)
                self._write_header()
                self._file.flush()
                os.fsync(self._file.fileno())
        except OSError as failure:
            raise _unwritable(self.path, failure) from failure

    def _write_header(self) -> None:
        # numpy pads the header for a growing first axis, so that it has the same length for any count.
        header = {"descr": "<f4", "fortran_order": False, "shape": (self.n_windows, *self.shape)}
        npy_format.write_array_header_1_0(self._file, header)


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write a whole ``.npy`` file, flushed to the disk; the caller names a temporary one and renames it.

    Raises
    ------
    DataError
        The disk is full or the file cannot be written.
    """
    try:
        with path.open("wb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path}: cannot write prepared windows ({error.strerror or error}); make room there, or set BENCH_CACHE "
        "to another folder"
    )
