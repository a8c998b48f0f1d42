"""Reading MATLAB 7.3 files, which are HDF5: a matrix is stored transposed, and text as character codes.

Nothing is read but what lies in the file itself, and nothing larger than the caller allows.
"""

import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.source_files import open_regular, refused_as

if TYPE_CHECKING:
    import h5py

_SIGNATURE, _OFFSET = b"\x89HDF\r\n\x1a\n", 512
_DEFLATE = 1
# What h5py raises on damaged files; found by feeding it some thousands of mutated ones.
_ERRORS = (
    *(OSError, KeyError, RuntimeError, ValueError, TypeError, MemoryError, OverflowError, AttributeError),
    zlib.error,
)


def is_hdf5(path: Path) -> bool:
    """Tell by a file's first bytes whether it is HDF5, with or without MATLAB's block before it.

    Raises
    ------
    DamagedRecord
        The file cannot be read.
    """
    with refused_as(DamagedRecord, path.name), open_regular(path) as file:
        start = file.read(_OFFSET + len(_SIGNATURE))
    return start.startswith(_SIGNATURE) or start[_OFFSET:] == _SIGNATURE


@contextmanager
def opened(path: Path) -> Iterator["h5py.File"]:
    """Open a file without a lock, which a file system may lack; what the library raises inside is told as damage.

    Raises
    ------
    DamagedRecord
        The file contradicts the format, or the block found that it does.
    """
    import h5py

    try:
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except _ERRORS as error:
        raise DamagedRecord(f"{path.name}: not a readable MATLAB 7.3 file ({error}); get it again") from error


def names_in(group: "h5py.Group") -> set[str]:
    """Return the names in a group without following any link."""
    return set(group.keys())


def member(group: "h5py.Group", name: str) -> object:
    """Return what is in the group itself; a link could lead into another file.

    Raises
    ------
    ValueError
        It is a link.
    """
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"{name} is a link and not in the file itself")
    return group[name]


def array_of(node: object, name: str, most_bytes: int) -> NDArray[Any]:
    """Return the values of an array as stored.

    Raises
    ------
    ValueError
        It is no array, lies outside of the file, is larger than ``most_bytes``, or is not all there.
    """
    import h5py

    if not isinstance(node, h5py.Dataset):
        raise ValueError(f"{name} is not an array")
    if node.external or node.is_virtual:
        raise ValueError(f"{name} is stored outside of the file")
    if node.nbytes > most_bytes:
        raise ValueError(f"{name} announces {node.nbytes} bytes, at most {most_bytes} are expected")
    if node.chunks is None:
        if node.id.get_storage_size() < node.nbytes:
            raise ValueError(f"{name} announces {node.nbytes} bytes and holds {node.id.get_storage_size()}")
    else:
        _check_chunks(node, name, most_bytes)
    return np.asarray(node[()])


def _check_chunks(node: "h5py.Dataset", name: str, most_bytes: int) -> None:
    """Refuse parts that are absent, which would read as zeros, and those that inflate to more than they announce."""
    chunks = node.chunks or ()
    n_expected = math.prod(-(-length // step) for length, step in zip(node.shape, chunks, strict=True))
    n_bytes = math.prod(chunks) * node.dtype.itemsize
    if node.id.get_num_chunks() != n_expected or n_bytes > most_bytes:
        raise ValueError(
            f"{name} holds {node.id.get_num_chunks()} of {n_expected} parts, of {n_bytes} bytes each"
        )
    filters = node.id.get_create_plist()
    codes = [filters.get_filter(i)[0] for i in range(filters.get_nfilters())]
    if _DEFLATE not in codes:
        return
    for i in range(n_expected):
        _, stored = node.id.read_direct_chunk(node.id.get_chunk_info(i).chunk_offset)
        # A checksum may follow the stream.
        if codes[-1] == _DEFLATE or codes[-2:] == [_DEFLATE, 3]:
            stream = zlib.decompressobj()
            stream.decompress(stored, n_bytes)
            if not stream.eof and stream.decompress(stream.unconsumed_tail, 1):
                raise ValueError(f"{name} has a part that inflates to more than its {n_bytes} bytes")


def is_text(array: NDArray[Any], node: object) -> bool:
    """Tell whether an array is text, by MATLAB's mark of its class; without one codes of 16 bits are."""
    return matlab_class(node) == "char" or (matlab_class(node) is None and array.dtype == np.uint16)


def matlab_class(node: object) -> str | None:
    """Return the class that MATLAB noted of an array."""
    found = getattr(node, "attrs", {}).get("MATLAB_class")
    return found.decode("latin-1") if isinstance(found, bytes) else None


def text_of(array: NDArray[Any], node: object) -> str:
    """Return an array of character codes as text; an empty text is stored as its shape.

    Raises
    ------
    ValueError
        It is no such array.
    """
    if getattr(node, "attrs", {}).get("MATLAB_empty"):
        return ""
    if array.dtype.kind not in "ui":
        raise ValueError(f"text of {array.dtype}")
    return array.ravel().astype("<u2").tobytes().decode("utf-16-le", errors="replace")
