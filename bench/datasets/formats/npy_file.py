"""Reading arrays from .npy and .npz files that may be damaged, never with pickles."""

import math
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from bench.datasets.contract import as_one_line
from bench.datasets.formats.source_files import open_regular
from bench.errors import DataError
from bench.machine import available_bytes

# What numpy, zipfile and the system raise on damaged headers, contents and names; found by feeding them some
# thousands of mutated files.
_ERRORS = (
    *(ValueError, TypeError, OverflowError, EOFError, OSError, SyntaxError, RecursionError, MemoryError),
    *(tokenize.TokenError, UserWarning, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
)
_ARCHIVE_START = b"PK"
# Of other methods a header alone can ask for gigabytes of memory.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# No stream of deflate inflates more.
_LARGEST_RATIO = 1032
_LARGEST_SHARE_OF_MEMORY = 0.5


def map_npy(path: Path) -> NDArray:
    """Return the array in a .npy file, mapped read-only and not yet read.

    Raises
    ------
    DataError
        The file is missing, no array of plain numbers or text, empty, or not as long as its header says.
    """
    try:
        with open_regular(path) as file:
            if file.read(len(_ARCHIVE_START)) == _ARCHIVE_START:
                raise ValueError("an archive of arrays (.npz) named .npy")
            file.seek(0)
            shape, is_fortran, dtype = _read_header(file, path.stat().st_size)
            if not math.prod(shape):
                raise ValueError(f"holds no values, its shape is {shape}")
            order = "F" if is_fortran else "C"
            return np.memmap(path, dtype, mode="r", offset=file.tell(), shape=shape, order=order)
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except _ERRORS as error:
        raise DataError(f"{as_one_line(str(path))}: not a readable .npy file ({_one_line(error)})") from error


def read_npz(
    path: Path, names: Collection[str] | None = None, most_bytes: float = math.inf
) -> dict[str, NDArray]:
    """Return arrays of a .npz file by name, in memory.

    Parameters
    ----------
    path
        The file.
    names
        Those wanted, of which it may lack some; nothing else in it is looked at. None wants all.
    most_bytes
        The most that the wanted arrays can have together.

    Raises
    ------
    DataError
        The file is missing or damaged, holds anything but arrays of plain numbers or text, is larger than expected,
        or would take more than half of the memory that is free.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            members = _members(archive, names)
            n_bytes = sum(info.file_size for info in members.values())
            if n_bytes > most_bytes:
                raise ValueError(f"{n_bytes} bytes, at most {most_bytes} are expected")
            if n_bytes > _LARGEST_SHARE_OF_MEMORY * available_bytes():
                raise ValueError(
                    f"{n_bytes} bytes, more than half of the memory free; save each array as .npy"
                )
            return {name: _read_member(archive, info) for name, info in members.items()}
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except _ERRORS as error:
        raise DataError(f"{as_one_line(str(path))}: not a readable .npz file ({_one_line(error)})") from error


def _members(archive: zipfile.ZipFile, names: Collection[str] | None) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name == info.filename or (names is not None and name not in names):
            continue
        if name in found:
            raise ValueError(f"holds '{name}' twice")
        if info.compress_type not in _METHODS:
            raise ValueError(f"{info.filename}: compressed by method {info.compress_type}, not by numpy")
        if info.file_size > _LARGEST_RATIO * info.compress_size:
            raise ValueError(
                f"{info.filename}: {info.file_size} bytes in {info.compress_size} of the archive"
            )
        found[name] = info
    return found


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray:
    with archive.open(info) as file:
        _read_header(file, info.file_size)
    with archive.open(info) as file:
        return npy_format.read_array(file, allow_pickle=False)


def _read_header(file: IO[bytes], n_bytes: int) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read what an array is and compare it with the file's size: numpy would make room for whatever it says."""
    version = npy_format.read_magic(file)
    reads = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}
    if version not in reads:
        raise ValueError(f"version {version} of the format")
    with warnings.catch_warnings():
        # numpy only warns of a header that it had to guess.
        warnings.simplefilter("error", UserWarning)
        shape, is_fortran, dtype = reads[version](file)
    if dtype.hasobject:
        raise ValueError(
            "holds Python objects, as text columns of pandas are saved; save plain text, np.save(FILE, "
            "column.astype(str)), or plain numbers"
        )
    if (
        dtype.kind == "V"
        or not dtype.itemsize
        or any(type(length) is not int or length < 0 for length in shape)
    ):
        raise ValueError(f"{shape} of {dtype} is no array of plain numbers or text")
    announced = file.tell() + math.prod(shape) * dtype.itemsize
    if announced != n_bytes:
        raise ValueError(f"{shape} of {dtype} takes {announced} bytes, the file has {n_bytes}")
    return shape, is_fortran, dtype


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
