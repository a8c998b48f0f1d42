"""Array files: damaged ones are refused in one line, and never by an error of numpy's."""

import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.datasets.formats import npy_file
from bench.errors import DataError

WINDOWS = np.random.default_rng(1).normal(size=(4, 5, 3)).astype(np.float32)


def test_arrays_of_an_npz_are_read_by_name(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", windows=WINDOWS, subject=np.array(["a", "b"]))
    found = npy_file.read_npz(tmp_path / "x.npz")
    assert np.array_equal(found["windows"], WINDOWS)
    assert found["subject"].tolist() == ["a", "b"]


def test_npz_named_npy_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", windows=WINDOWS)
    (tmp_path / "x.npz").rename(tmp_path / "x.npy")
    with pytest.raises(DataError, match=r"an archive of arrays \(\.npz\) named \.npy"):
        npy_file.map_npy(tmp_path / "x.npy")


@pytest.mark.parametrize("kept", [0, 30, 200])
def test_truncated_npz_is_refused(tmp_path: Path, kept: int) -> None:
    np.savez(tmp_path / "x.npz", windows=WINDOWS)
    (tmp_path / "x.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:kept])
    with pytest.raises(DataError, match=r"not a readable \.npz file"):
        npy_file.read_npz(tmp_path / "x.npz")


def test_npz_that_announces_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "small.npy", np.zeros((2, 2)))
    content = (tmp_path / "small.npy").read_bytes().replace(b"(2, 2), }      ", b"(9999999, 9999), }"[:15])
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("windows.npy", content)
    with pytest.raises(DataError, match=r"not a readable \.npz file"):
        npy_file.read_npz(tmp_path / "x.npz")


def test_text_column_of_pandas_says_how_to_save_it(tmp_path: Path) -> None:
    column = np.array(["anna", "bert"], dtype=object)
    np.save(tmp_path / "x.npy", column, allow_pickle=True)
    np.savez(tmp_path / "x.npz", subject=column)
    for read, name in ((npy_file.map_npy, "x.npy"), (npy_file.read_npz, "x.npz")):
        with pytest.raises(DataError, match=r"save plain text, np\.save\(FILE, column\.astype\(str\)\)"):
            read(tmp_path / name)


def header(text: str) -> bytes:
    content = text.encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(content)) + content


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (10**9,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1L,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999999999999)}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (4,)}",
        "{'descr': '|V4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': 7, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()}" + " " * 60_000,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",)}",
        "{[]: 1}",
        "[" * 3000,
    ],
)
def test_header_of_wrong_types_or_shape_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.npy").write_bytes(header(text) + bytes(8))
    with pytest.raises(DataError, match=r"x\.npy: not a readable \.npy file") as caught:
        npy_file.map_npy(tmp_path / "x.npy")
    assert str(caught.value).isprintable()


def test_bytes_after_the_array_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", WINDOWS)
    with (tmp_path / "x.npy").open("ab") as file:
        file.write(b"more")
    with pytest.raises(DataError, match=r"takes \d+ bytes, the file has \d+"):
        npy_file.map_npy(tmp_path / "x.npy")


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_broken_zip_and_pipe_are_refused(tmp_path: Path, name: str) -> None:
    read = npy_file.map_npy if name == "x.npy" else npy_file.read_npz
    (tmp_path / name).write_bytes(b"PK\x03\x04" + bytes(40))
    with pytest.raises(DataError, match="not a readable"):
        read(tmp_path / name)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="is a pipe or a device"):
        read(tmp_path / name)


def test_archive_that_inflates_beyond_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "x.npz", windows=np.zeros(10**6), other=np.zeros(3))
    monkeypatch.setattr(npy_file, "available_bytes", lambda: 10**7)
    with pytest.raises(DataError, match="more than half of the memory free"):
        npy_file.read_npz(tmp_path / "x.npz")
    # A member that nobody asks for is not looked at.
    assert npy_file.read_npz(tmp_path / "x.npz", ["other"])["other"].shape == (3,)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archive_of_another_method_is_refused(tmp_path: Path, method: int) -> None:
    np.save(tmp_path / "x.npy", WINDOWS)
    with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
        archive.write(tmp_path / "x.npy", "windows.npy")
    with pytest.raises(DataError, match="compressed by method"):
        npy_file.read_npz(tmp_path / "x.npz")


@given(st.data())
def test_mutated_npy_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.npy"
    np.save(path, WINDOWS)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 140))] = data.draw(st.sampled_from(b"0159 (),'{}<fOi\\\x00\xff\n:"))
    path.write_bytes(
        content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content
    )
    try:
        npy_file.map_npy(path)
    except DataError as error:
        assert "\n" not in str(error)  # noqa: PT017 either outcome is right, a library's error is not
