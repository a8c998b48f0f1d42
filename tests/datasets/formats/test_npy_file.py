"""Array files: damaged ones are refused in one line, and never by an error of numpy's."""

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
