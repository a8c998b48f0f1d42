"""Reading arrays from .npy and .npz files that may be damaged, never with pickles."""

import math
import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from bench.errors import DataError

# What numpy raises on damaged headers and contents; found by feeding it some thousands of mutated files.
_NPY_ERRORS = (ValueError, EOFError, OSError, SyntaxError, tokenize.TokenError)
_NPZ_ERRORS = (*_NPY_ERRORS, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)


def map_npy(path: Path) -> NDArray:
    """Return the array in a .npy file, mapped read-only and not yet read.

    Raises
    ------
    DataError
        The file is missing, no array of plain numbers or text, or shorter than its header says.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except _NPY_ERRORS as error:
        raise DataError(f"{path}: not a readable .npy file ({_one_line(error)})") from error
    if not isinstance(array, np.ndarray):
        array.close()
        raise DataError(f"{path}: an archive of arrays (.npz) named .npy")
    return array


def read_npz(path: Path) -> dict[str, NDArray]:
    """Return all arrays of a .npz file by name, in memory.

    Raises
    ------
    DataError
        The file is missing or damaged, or holds anything but arrays of plain numbers or text.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                info.filename.removesuffix(".npy"): _read_member(archive, info)
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except _NPZ_ERRORS as error:
        raise DataError(f"{path}: not a readable .npz file ({_one_line(error)})") from error


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray:
    with archive.open(info) as file:
        version = npy_format.read_magic(file)
        reads = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}
        if version not in reads:
            raise ValueError(f"{info.filename}: version {version} of the format")
        shape, _, dtype = reads[version](file)
        # numpy would make room for whatever the header says.
        if dtype.hasobject or file.tell() + math.prod(shape) * dtype.itemsize != info.file_size:
            raise ValueError(f"{info.filename}: {shape} of {dtype} is not what it holds")
    with archive.open(info) as file:
        return npy_format.read_array(file, allow_pickle=False)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
