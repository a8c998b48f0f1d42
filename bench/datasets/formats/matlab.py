"""Reading MATLAB 5 files (version 6 and 7 of ``save``) that may be damaged.

``scipy.io.loadmat`` trusts the sizes inside a file: one flipped byte can end the process by a signal. So the
nesting of the elements is checked first, by the format's public description ("MAT-File Level 5"), then scipy reads.
"""

import io
import math
import struct
import zlib
from pathlib import Path
from typing import Any

from bench.datasets.contract import DamagedRecord

_HEADER_BYTES = 128
_MAX_DEPTH = 40
_MAX_INFLATED_BYTES = 2**31
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
_ITEM_BYTES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8, 16: 1, 17: 2, 18: 4}
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _FIRST_NUMERIC, _LAST_NUMERIC = 1, 2, 3, 4, 5, 6, 15
_FUNCTION, _OPAQUE = 16, 17


def read_variables(path: Path, *names: str) -> dict[str, Any]:
    """Return the named variables of a file, those that it has, as scipy gives them with size-1 axes kept.

    Raises
    ------
    DamagedRecord
        The file is no MATLAB 5 file, or is truncated or inconsistent.
    """
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    content = path.read_bytes()
    try:
        _check_file(memoryview(content))
        return loadmat(io.BytesIO(content), variable_names=names, chars_as_strings=True)
    except (_MalformedError, MatReadError, ValueError, TypeError, OSError, NotImplementedError) as error:
        raise DamagedRecord(f"{path.name}: not a readable MATLAB 5 file ({error}); get it again") from error


class _MalformedError(Exception):
    """The bytes contradict the format."""


def _check_file(content: memoryview) -> None:
    if len(content) < _HEADER_BYTES:
        raise _MalformedError(f"{len(content)} bytes, shorter than the header")
    order = {b"IM": "<", b"MI": ">"}.get(bytes(content[126:128]))
    if order is None or struct.unpack(f"{order}H", content[124:126])[0] != 0x0100:
        raise _MalformedError("the header does not say MATLAB 5")
    rest = content[_HEADER_BYTES:]
    while len(rest):
        kind, body, rest = _element(rest, order)
        if kind == _COMPRESSED:
            body = _inflate(body)
            kind, body, _ = _element(body, order)
        if kind == _MATRIX:
            _check_matrix(body, order, 0)


def _inflate(body: memoryview) -> memoryview:
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(body, _MAX_INFLATED_BYTES)
    except zlib.error as error:
        raise _MalformedError(f"damaged compressed part: {error}") from error
    if not stream.eof:
        raise _MalformedError("a compressed part is cut short or larger than 2 GiB")
    return memoryview(content)


def _element(data: memoryview, order: str) -> tuple[int, memoryview, memoryview]:
    """Split off the first element: its type, its content, and what follows."""
    if len(data) < 8:
        raise _MalformedError("truncated: the file ends inside an element's tag")
    kind, size = struct.unpack(f"{order}II", data[:8])
    if kind >> 16:  # small format: size and type share the first four bytes, the content has the other four
        kind, size = kind & 0xFFFF, kind >> 16
        if size > 4:
            raise _MalformedError(f"small element of {size} bytes")
        return kind, data[4 : 4 + size], data[8:]
    if size > len(data) - 8:
        raise _MalformedError(f"truncated: {size} bytes announced, {len(data) - 8} left")
    padded = size if kind == _COMPRESSED else -(-size // 8) * 8
    return kind, data[8 : 8 + size], data[min(8 + padded, len(data)) :]


def _expect(data: memoryview, order: str, kind: int, what: str) -> tuple[memoryview, memoryview]:
    found, body, rest = _element(data, order)
    if found != kind or len(body) % _ITEM_BYTES[kind]:
        raise _MalformedError(f"{what} of type {found} and {len(body)} bytes")
    return body, rest


def _check_matrix(body: memoryview, order: str, depth: int) -> None:
    if not len(body):  # how the format writes []
        return
    if depth > _MAX_DEPTH:
        raise _MalformedError(f"nested deeper than {_MAX_DEPTH} levels")
    flags, rest = _expect(body, order, _UINT32, "array flags")
    if len(flags) != 8:
        raise _MalformedError(f"array flags of {len(flags)} bytes")
    word = struct.unpack(f"{order}I", flags[:4])[0]
    array_class, is_complex = word & 0xFF, bool(word & 0x0800)
    if array_class in (_FUNCTION, _OPAQUE, _SPARSE):
        _check_loose(rest, order, depth)
        return
    dims, rest = _expect(rest, order, _INT32, "dimensions")
    shape = struct.unpack(f"{order}{len(dims) // 4}i", dims)
    if len(shape) < 2 or min(shape) < 0:
        raise _MalformedError(f"dimensions {shape}")
    _, rest = _expect(rest, order, _INT8, "array name")
    if array_class in (_CELL, _STRUCT, _OBJECT):
        n_fields, rest = (1, rest) if array_class == _CELL else _fields(rest, order, array_class)
        _check_children(rest, order, math.prod(shape) * n_fields, depth)
    elif array_class == _CHAR or _FIRST_NUMERIC <= array_class <= _LAST_NUMERIC:
        for _ in range(1 + is_complex):
            rest = _check_values(rest, order, math.prod(shape), is_text=array_class == _CHAR)
    else:
        raise _MalformedError(f"array class {array_class}")


def _fields(data: memoryview, order: str, array_class: int) -> tuple[int, memoryview]:
    """Return how many fields a struct has, and what follows their names."""
    if array_class == _OBJECT:
        _, data = _expect(data, order, _INT8, "class name")
    length, data = _expect(data, order, _INT32, "length of field names")
    names, data = _expect(data, order, _INT8, "field names")
    n_bytes = struct.unpack(f"{order}i", length)[0] if len(length) == 4 else 0
    if n_bytes < 1 or len(names) % n_bytes:
        raise _MalformedError(f"{len(names)} bytes of field names of {n_bytes} bytes each")
    return len(names) // n_bytes, data


def _check_children(data: memoryview, order: str, n_children: int, depth: int) -> None:
    if n_children > len(data) // 8:
        raise _MalformedError(f"truncated: {n_children} parts announced in {len(data)} bytes")
    for _ in range(n_children):
        kind, body, data = _element(data, order)
        if kind != _MATRIX:
            raise _MalformedError(f"a part of type {kind} where an array must be")
        _check_matrix(body, order, depth + 1)


def _check_values(data: memoryview, order: str, n_values: int, *, is_text: bool) -> memoryview:
    kind, body, rest = _element(data, order)
    if kind not in _ITEM_BYTES:
        raise _MalformedError(f"values of type {kind}")
    n_found = len(body) / _ITEM_BYTES[kind]
    # Text may take several bytes a character, and is never shorter than its shape says unless empty.
    if n_found < n_values if is_text else n_found != n_values:
        raise _MalformedError(f"{n_values} values announced, {n_found:g} found")
    return rest


def _check_loose(data: memoryview, order: str, depth: int) -> None:
    """Check an array whose inside is not documented or not used by us: the parts must nest."""
    while len(data):
        kind, body, data = _element(data, order)
        if kind == _MATRIX:
            _check_matrix(body, order, depth + 1)
