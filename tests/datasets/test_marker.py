"""The mark of simulated folders."""

import os
from pathlib import Path

import pytest

from bench.datasets.simulate.cohort import demo_root, ensure_demo, simulate
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


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_mark_has_the_rights_that_the_user_gives_new_files(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_marker(tmp_path, seed=1)
    finally:
        os.umask(before)
    assert (tmp_path / MARKER_NAME).stat().st_mode & 0o777 == mode


def test_mark_that_may_not_be_read_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / MARKER_NAME).mkdir()
    with pytest.raises(DataError, match=r"SIMULATED.json: cannot be read \(Is a directory\)"):
        read_marker(tmp_path)


def test_demo_of_another_size_is_simulated_again() -> None:
    simulate("uci-har", demo_root(), n_subjects=4, seconds=4.0, seed=41)
    assert ensure_demo("uci-har")
    assert not ensure_demo("uci-har")
