"""The mark of simulated folders."""

from pathlib import Path

import pytest

from bench.datasets.simulate.marker import MARKER_NAME, read_marker, write_marker
from bench.errors import DataError


def test_parameters_come_back(tmp_path: Path) -> None:
    write_marker(tmp_path, simulator="x", seed=3, seconds=1.5)
    assert read_marker(tmp_path) == {"simulator": "x", "seed": 3, "seconds": 1.5}


def test_unmarked_folder_is_not_simulated(tmp_path: Path) -> None:
    assert read_marker(tmp_path) is None


def test_marking_leaves_one_file(tmp_path: Path) -> None:
    write_marker(tmp_path, seed=1)
    write_marker(tmp_path, seed=2)
    assert [path.name for path in tmp_path.iterdir()] == [MARKER_NAME]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"seed": [1]}'])
def test_unreadable_mark_is_never_taken_for_real_data(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MARKER_NAME).write_bytes(content)
    with pytest.raises(DataError, match=r"SIMULATED.json: not .*simulate the folder again"):
        read_marker(tmp_path)
