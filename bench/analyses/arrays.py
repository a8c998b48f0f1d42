"""Arrays beside the record of an analysis: an .npz without pickles, named by its hash in the record."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.analyses.store import REMEDY
from bench.datasets.formats.npy_file import read_npz
from bench.errors import DataError, RecordError
from bench.files import atomic_file, sha256_of


def write_arrays(folder: Path, stem: str, arrays: Mapping[str, NDArray]) -> str:
    """Write arrays of numbers or fixed-width texts into an analysis's folder; return the file's SHA-256."""
    target = folder / f"{stem}.npz"
    with atomic_file(target) as path, path.open("wb") as file:
        np.savez_compressed(file, **dict(arrays))  # pyright: ignore[reportArgumentType]
    return sha256_of(target)


def read_arrays(folder: Path, stem: str, sha256: str) -> dict[str, NDArray]:
    """Return the arrays that a record was written with.

    Raises
    ------
    RecordError
        The file is absent, has another hash, or is not readable without pickles.
    """
    path = folder / f"{stem}.npz"
    if not path.is_file():
        raise RecordError(
            f"{path}: no such file, though its record names it; {REMEDY.replace('file', 'record')}"
        )
    found = sha256_of(path)
    if found != sha256:
        raise RecordError(
            f"{path}: SHA-256 is {found[:12]}..., the record has {sha256[:12]}...; "
            f"{REMEDY.replace('file', 'record')}"
        )
    try:
        return read_npz(path)
    except DataError as error:
        raise RecordError(f"{path}: not readable as arrays ({error.__cause__}); {REMEDY}") from error
