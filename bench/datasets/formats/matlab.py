"""Reading MATLAB 5 files (version 6 and 7 of ``save``) that may be damaged: nothing is decoded but what is asked for.

By the format's public description ("MAT-File Level 5"). ``scipy.io.loadmat`` trusts the sizes inside a file, decodes
every field of a structure and every text in it, and can end the process by a signal on a sparse array; here an array
that nobody asks for is never looked into, whatever its class and encoding.
"""

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.source_files import read_regular, refused_as

_HEADER_BYTES = 128
# Holds the tag, flags, dimensions and name of a variable.
_VARIABLE_START_BYTES = 4096
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
_ITEM_BYTES = {_INT8: 1, _INT32: 4, _UINT32: 4}
_DTYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_WIDE = ("utf-16", "utf-32")
_FIRST_NUMERIC, _LAST_NUMERIC = 6, 15
# Functions and opaque objects, whose inside is not documented.
_WITHOUT_DIMENSIONS = (16, 17)
_COMPLEX, _LOGICAL = 0x0800, 0x0200
_MOST_AXES, _MOST_CHILDREN = 32, 2**20

Kind = Literal["numbers", "complex", "logical", "text", "cell", "structure", "other"]
_COMPOUND: dict[int, Kind] = {1: "cell", 2: "structure", 4: "text"}


class MalformedError(Exception):
    """The bytes contradict the format, or are not what was asked for."""


@dataclass(frozen=True)
class MatArray:
    """An array of a file, not decoded yet; ``values`` is what follows its name."""

    kind: Kind
    shape: tuple[int, ...]
    order: str
    values: memoryview

    @property
    def size(self) -> int:
        """Number of elements that the array announces."""
        return math.prod(self.shape)

    @property
    def words(self) -> str:
        """What the array is, for a message."""
        if self.kind == "numbers":
            return f"{self.numbers().dtype} {self.shape}"
        names = {"complex": "complex128", "logical": "bool", "text": f"<U{self.size}"}
        return f"{names.get(self.kind, self.kind)} {self.shape}"

    def numbers(self) -> NDArray[np.number]:
        """Return real numbers in the type that they are stored in; read-only.

        Raises
        ------
        MalformedError
            The array is of another kind, or holds more or fewer than it announces.
        """
        self._require("numbers")
        stored, body, _ = _element(self.values, self.order)
        if stored not in _DTYPES:
            raise MalformedError(f"numbers of type {stored}")
        dtype = np.dtype(self.order + _DTYPES[stored])
        if len(body) != self.size * dtype.itemsize:
            raise MalformedError(f"{self.size} numbers announced, {len(body) / dtype.itemsize:g} found")
        found = np.frombuffer(body, dtype).reshape(self.shape, order="F")
        return found if dtype.isnative else found.astype(dtype.newbyteorder("="))

    def text(self) -> str:
        """Return text, of whatever encoding; signs that cannot be decoded are replaced.

        Raises
        ------
        MalformedError
            The array is of another kind.
        """
        self._require("text")
        if not self.size:
            return ""
        stored, body, _ = _element(self.values, self.order)
        encoding = _ENCODINGS.get(stored)
        if encoding is None:
            raise MalformedError(f"text of type {stored}")
        if encoding in _WIDE:
            encoding += "-le" if self.order == "<" else "-be"
        try:
            return bytes(body).decode(encoding)
        except UnicodeDecodeError:
            return bytes(body).decode("latin-1" if encoding == "utf-8" else encoding, errors="replace")

    def cells(self) -> list["MatArray"]:
        """Return the parts of a cell array in the order of the file.

        Raises
        ------
        MalformedError
            The array is of another kind, or cut off.
        """
        self._require("cell")
        return [_array(body, self.order)[1] for body in _children(self.values, self.order, self.size)]

    def field_names(self) -> list[str]:
        """Return the names of a structure's fields, in order.

        Raises
        ------
        MalformedError
            The array is of another kind, or its names are damaged.
        """
        self._require("structure")
        return _field_names(self.values, self.order)[0]

    def field(self, name: str) -> list["MatArray"]:
        """Return a field of each structure of the array, the first of fields that share the name.

        Raises
        ------
        MalformedError
            The array is of another kind, cut off, or has no such field.
        """
        self._require("structure")
        names, rest = _field_names(self.values, self.order)
        if name not in names:
            raise MalformedError(f"no field '{name}'")
        bodies = _children(rest, self.order, self.size * len(names))
        return [_array(body, self.order)[1] for body in bodies[names.index(name) :: len(names)]]

    def _require(self, kind: Kind) -> None:
        if self.kind != kind:
            raise MalformedError(f"{self.kind} where {kind} must be")


def read_variables(path: Path, *names: str, most_bytes: int) -> dict[str, MatArray]:
    """Return the named variables of a file, those that it has.

    Parameters
    ----------
    path
        The file.
    names
        Of the variables; others are passed over.
    most_bytes
        The largest that the file, and what these variables inflate to, can be.

    Raises
    ------
    DamagedRecord
        The file is no MATLAB 5 file, or is truncated or too large.
    """
    with refused_as(DamagedRecord, path.name):
        content = read_regular(path, most_bytes)
    try:
        return dict(_variables(memoryview(content), names, most_bytes))
    except MalformedError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> DamagedRecord:
    """Return the error for a file that contradicts the format."""
    return DamagedRecord(f"{path.name}: not a readable MATLAB 5 file ({error}); get it again")


def _variables(
    content: memoryview, names: tuple[str, ...], most_bytes: int
) -> Iterator[tuple[str, MatArray]]:
    if len(content) < _HEADER_BYTES:
        raise MalformedError(f"{len(content)} bytes, shorter than the header")
    order = {b"IM": "<", b"MI": ">"}.get(bytes(content[126:128]))
    if order is None or struct.unpack(f"{order}H", content[124:126])[0] != 0x0100:
        raise MalformedError("the header does not say MATLAB 5")
    rest = content[_HEADER_BYTES:]
    while len(rest):
        stored, body, rest = _element(rest, order)
        found = _inflated(body, order, names, most_bytes) if stored == _COMPRESSED else body
        if found is not None and stored in (_MATRIX, _COMPRESSED) and _is_named(found, order, names):
            most_bytes -= len(found)
            yield _array(found, order)


def _inflated(body: memoryview, order: str, names: tuple[str, ...], most_bytes: int) -> memoryview | None:
    """Return a compressed variable of one of the names, inflated no further than it announces; None for others."""
    start = memoryview(_inflate(body, _VARIABLE_START_BYTES)[0])
    if len(start) < 8:
        raise MalformedError("a compressed part is cut short")
    stored, size = struct.unpack(f"{order}II", start[:8])
    if stored != _MATRIX or not _is_named(start[8:], order, names):
        return None
    if size > most_bytes:
        raise MalformedError(f"a compressed part announces {size} bytes, at most {most_bytes} are expected")
    # Eight more may pad the element; without its end the stream's checksum would not be looked at.
    content, is_whole = _inflate(body, 16 + size)
    if not is_whole or len(content) < 8 + size:
        raise MalformedError("a compressed part is cut short or longer than it announces")
    return memoryview(content)[8 : 8 + size]


def _inflate(body: memoryview, most_bytes: int) -> tuple[bytes, bool]:
    """Return the first bytes of a stream, and whether that is all of it."""
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(body, most_bytes)
        # The stream's end may come after the last byte that was asked for.
        rest = b"" if stream.eof else stream.decompress(stream.unconsumed_tail, 1)
    except zlib.error as error:
        raise MalformedError(f"damaged compressed part: {error}") from error
    return content, stream.eof and not rest


def _is_named(body: memoryview, order: str, names: tuple[str, ...]) -> bool:
    """Tell whether a variable has one of the names; of its start alone."""
    if not len(body):
        return False
    return _start(body, order)[2] in names


def _array(body: memoryview, order: str) -> tuple[str, MatArray]:
    """Return an array with its name."""
    if not len(body):  # how the format writes []
        return "", MatArray("numbers", (0, 0), order, memoryview(struct.pack(f"{order}II", 9, 0)))
    kind, shape, name, rest = _start(body, order)
    return name, MatArray(kind, shape, order, rest)


def _start(body: memoryview, order: str) -> tuple[Kind, tuple[int, ...], str, memoryview]:
    """Return kind, shape and name of an array, and what follows."""
    flags, rest = _expect(body, order, _UINT32, "array flags")
    if len(flags) != 8:
        raise MalformedError(f"array flags of {len(flags)} bytes")
    word = struct.unpack(f"{order}I", flags[:4])[0]
    if word & 0xFF in _WITHOUT_DIMENSIONS:
        return "other", (), "", rest
    dims, rest = _expect(rest, order, _INT32, "dimensions")
    shape = struct.unpack(f"{order}{len(dims) // 4}i", dims)
    if not 2 <= len(shape) <= _MOST_AXES or min(shape) < 0:
        raise MalformedError(f"dimensions {shape[:_MOST_AXES]}")
    name, rest = _expect(rest, order, _INT8, "array name")
    return _kind(word), shape, bytes(name).decode("latin-1"), rest


def _kind(word: int) -> Kind:
    array_class = word & 0xFF
    if array_class in _COMPOUND:
        return _COMPOUND[array_class]
    if not _FIRST_NUMERIC <= array_class <= _LAST_NUMERIC:
        return "other"
    return "complex" if word & _COMPLEX else "logical" if word & _LOGICAL else "numbers"


def _field_names(data: memoryview, order: str) -> tuple[list[str], memoryview]:
    """Return the names of a structure's fields, and what follows them."""
    length, data = _expect(data, order, _INT32, "length of field names")
    names, data = _expect(data, order, _INT8, "field names")
    n_bytes = struct.unpack(f"{order}i", length)[0] if len(length) == 4 else 0
    if n_bytes < 1 or len(names) % n_bytes:
        raise MalformedError(f"{len(names)} bytes of field names of {n_bytes} bytes each")
    texts = (bytes(names[start : start + n_bytes]) for start in range(0, len(names), n_bytes))
    return [text.partition(b"\0")[0].decode("latin-1") for text in texts], data


def _children(data: memoryview, order: str, n_children: int) -> list[memoryview]:
    """Return the contents of the arrays that an array consists of."""
    if n_children > min(len(data) // 8, _MOST_CHILDREN):
        raise MalformedError(f"truncated: {n_children} parts announced in {len(data)} bytes")
    found = []
    for _ in range(n_children):
        stored, body, data = _element(data, order)
        if stored != _MATRIX:
            raise MalformedError(f"a part of type {stored} where an array must be")
        found.append(body)
    return found


def _expect(data: memoryview, order: str, stored: int, what: str) -> tuple[memoryview, memoryview]:
    found, body, rest = _element(data, order)
    if found != stored or len(body) % _ITEM_BYTES[stored]:
        raise MalformedError(f"{what} of type {found} and {len(body)} bytes")
    return body, rest


def _element(data: memoryview, order: str) -> tuple[int, memoryview, memoryview]:
    """Split off the first element: its type, its content, and what follows."""
    if len(data) < 8:
        raise MalformedError("truncated: the file ends inside an element's tag")
    stored, size = struct.unpack(f"{order}II", data[:8])
    if stored >> 16:  # small format: size and type share the first four bytes, the content has the other four
        stored, size = stored & 0xFFFF, stored >> 16
        if size > 4:
            raise MalformedError(f"small element of {size} bytes")
        return stored, data[4 : 4 + size], data[8:]
    if size > len(data) - 8:
        raise MalformedError(f"truncated: {size} bytes announced, {len(data) - 8} left")
    padded = size if stored == _COMPRESSED else -(-size // 8) * 8
    return stored, data[8 : 8 + size], data[min(8 + padded, len(data)) :]
