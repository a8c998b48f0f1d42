"""Arrays beside a record: what is read is what was written, or an error."""

from pathlib import Path

import numpy as np
import pytest

from bench.analyses.arrays import read_arrays, write_arrays
from bench.errors import RecordError


def test_arrays_survive(tmp_path: Path) -> None:
    arrays = {"a": np.arange(3.0), "name": np.array(["x", "yz"])}
    sha256 = write_arrays(tmp_path, "stem", arrays)
    found = read_arrays(tmp_path, "stem", sha256)
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"stem\.npz: no such file, though its record names it"):
        read_arrays(tmp_path, "stem", "0" * 64)


def test_another_file_is_an_error(tmp_path: Path) -> None:
    write_arrays(tmp_path, "stem", {"a": np.arange(3)})
    with pytest.raises(RecordError, match=r"SHA-256 is .*, the record has 000000000000"):
        read_arrays(tmp_path, "stem", "0" * 64)


def test_pickles_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "stem.npz"
    sha256 = write_arrays(tmp_path, "stem", {"a": np.array([{}], dtype=object)})
    assert path.is_file()
    with pytest.raises(RecordError, match="not readable as arrays"):
        read_arrays(tmp_path, "stem", sha256)
