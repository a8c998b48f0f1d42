"""MATLAB 5 files: what scipy writes is read back, what nobody asks for is never decoded, and lies are refused."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bench.datasets.contract import DamagedRecord
from bench.datasets.formats.matlab import MalformedError, MatArray, read_variables

MOST = 2**24
NUMBERS = st.sampled_from(["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4"])


def written(path: Path, variables: dict[str, Any], *, compress: bool = False) -> Path:
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, variables, do_compression=compress)
    path.write_bytes(buffer.getvalue())
    return path


@given(
    NUMBERS.flatmap(
        lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=5))
    ),
    st.booleans(),
)
def test_numbers_come_back(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray[Any, Any], compress: bool
) -> None:
    path = written(tmp_path_factory.getbasetemp() / "numbers.mat", {"x": array, "y": 1}, compress=compress)
    found = read_variables(path, "x", most_bytes=MOST)["x"].numbers()
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], max_codepoint=0xFFFF), max_size=20),
    st.text("abcxyz_", max_size=9),
)
def test_text_comes_back_from_a_structure(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "text.mat"
    written(path, {"x": {f"f{name}": text, "other": 1}})
    (found,) = read_variables(path, "x", most_bytes=MOST)["x"].field(f"f{name}")
    assert (found.text() if found.kind == "text" else "") == text


def element(kind: int, content: bytes, order: str = "<") -> bytes:
    return struct.pack(f"{order}II", kind, len(content)) + content + bytes(-len(content) % 8)


def matrix(name: str, word: int, shape: tuple[int, ...], values: bytes, order: str = "<") -> bytes:
    dims = struct.pack(f"{order}{len(shape)}i", *shape)
    start = element(6, struct.pack(f"{order}II", word, 0), order) + element(5, dims, order)
    return element(14, start + element(1, name.encode(), order) + values, order)


def whole(path: Path, *variables: bytes, order: str = "<") -> Path:
    mark = b"IM" if order == "<" else b"MI"
    path.write_bytes(b"by hand".ljust(124) + struct.pack(f"{order}H", 0x0100) + mark + b"".join(variables))
    return path


def test_file_of_the_other_byte_order_is_read(tmp_path: Path) -> None:
    values = element(9, struct.pack(">3d", 1, 2, 3), ">")
    path = whole(tmp_path / "x.mat", matrix("x", 6, (1, 3), values, ">"), order=">")
    found = read_variables(path, "x", most_bytes=MOST)["x"].numbers()
    assert found.tolist() == [[1, 2, 3]]
    assert found.dtype.isnative


@pytest.mark.parametrize("stored", [1, 2, 4, 16, 17, 18])
def test_text_of_any_encoding_is_text(tmp_path: Path, stored: int) -> None:
    content = (
        b"Fp1\xff"
        if stored in (1, 2, 16)
        else "Fp1".encode({4: "utf-16-le", 17: "utf-16-le", 18: "utf-32-le"}[stored])
    )
    path = whole(tmp_path / "x.mat", matrix("x", 4, (1, 3), element(stored, content)))
    assert read_variables(path, "x", most_bytes=MOST)["x"].text().startswith("Fp1")


def test_sparse_array_ends_no_process(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mat", {"x": {"a": scipy.sparse.eye(3), "b": 7.0}, "z": scipy.sparse.eye(4)})
    found = read_variables(path, "x", "z", most_bytes=MOST)
    assert found["z"].kind == "other"
    (inner,), (number,) = found["x"].field("a"), found["x"].field("b")
    assert number.numbers().item() == 7
    with pytest.raises(MalformedError, match="other where numbers must be"):
        inner.numbers()


def test_logical_and_complex_arrays_are_no_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mat", {"x": np.ones((2, 2), bool), "y": np.ones((2, 2)) * 1j})
    found = read_variables(path, "x", "y", most_bytes=MOST)
    assert {name: array.kind for name, array in found.items()} == {"x": "logical", "y": "complex"}


def test_first_of_fields_with_one_name_counts(tmp_path: Path) -> None:
    fields = element(5, struct.pack("<i", 8)) + element(1, b"aaaa\0\0\0\0" * 2)
    children = b"".join(matrix("", 6, (1, 1), element(9, struct.pack("<d", value))) for value in (1, 2))
    path = whole(tmp_path / "x.mat", matrix("x", 2, (1, 1), fields + children))
    assert [
        array.numbers().item() for array in read_variables(path, "x", most_bytes=MOST)["x"].field("aaaa")
    ] == [1]


def test_damage_in_a_field_that_is_not_asked_for_costs_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "x.mat", {"x": {"used": 5.0, "other": "some text of the user"}})
    content = path.read_bytes()
    at = content.index(b"some text")
    path.write_bytes(content[:at] + b"\xff" * 9 + content[at + 9 :])
    assert read_variables(path, "x", most_bytes=MOST)["x"].field("used")[0].numbers().item() == 5


def bomb(announced: int, inflated: int) -> bytes:
    body = struct.pack("<II", 14, announced) + matrix("x", 6, (1, 1), b"")[8:]
    return (
        struct.pack("<II", 15, 0)[:4]
        + struct.pack("<I", len(packed := zlib.compress(body + bytes(inflated))))
        + packed
    )


@pytest.mark.parametrize(
    ("announced", "inflated", "message"),
    [
        (2**31 - 1, 2**20, "announces 2147483647 bytes, at most 16777216"),
        (1000, 2**26, "cut short or longer than it announces"),
        (2**20, 1000, "cut short or longer than it announces"),
    ],
)
def test_stream_that_inflates_to_something_else_is_refused(
    tmp_path: Path, announced: int, inflated: int, message: str
) -> None:
    path = whole(tmp_path / "x.mat", bomb(announced, inflated))
    with pytest.raises(DamagedRecord, match=message):
        read_variables(path, "x", most_bytes=MOST)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            matrix("x", 6, (2**30, 2**30), element(9, bytes(8))),
            "1152921504606846976 numbers announced, 1 found",
        ),
        (matrix("x", 6, (-1, 1), element(9, bytes(8))), r"dimensions \(-1, 1\)"),
        (matrix("x", 6, (1,) * 60, element(9, bytes(8))), "dimensions"),
        (matrix("x", 1, (2**30, 2), b""), "parts announced in 0 bytes"),
        (matrix("x", 2, (1, 1), element(5, struct.pack("<i", 0)) + element(1, b"ab")), "of 0 bytes each"),
    ],
)
def test_announced_sizes_are_compared_with_the_file(tmp_path: Path, array: bytes, message: str) -> None:
    path = whole(tmp_path / "x.mat", array)
    with pytest.raises((DamagedRecord, MalformedError), match=message):
        decode(read_variables(path, "x", most_bytes=MOST)["x"])


def decode(array: MatArray) -> object:
    return {"numbers": array.numbers, "cell": array.cells}.get(array.kind, lambda: array.field("a"))()
