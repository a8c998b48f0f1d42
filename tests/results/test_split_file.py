"""Splits kept beside records: written once per content, read by dataset, and checked for shared subjects."""

from pathlib import Path

import pytest

from bench.errors import RecordError
from bench.results.split_file import SplitFile, read_splits, write_split

SPLIT = SplitFile(dataset="ptb-xl", train=("1", "2"), validation=("3",), test=("4",))


def test_round_trip_by_dataset(tmp_path: Path) -> None:
    write_split(tmp_path, SPLIT)
    write_split(tmp_path, SPLIT)
    write_split(tmp_path, SPLIT.model_copy(update={"dataset": "ptb"}))

    assert read_splits(tmp_path, "ptb-xl") == [SPLIT]
    assert len(list((tmp_path / "splits").iterdir())) == 2


def test_names_the_subjects_in_more_than_one_part() -> None:
    shared = SPLIT.model_copy(update={"test": ("1", "3", "4")})

    assert (SPLIT.shared_subjects, shared.shared_subjects) == ((), ("1", "3"))


def test_damaged_file_is_written_anew(tmp_path: Path) -> None:
    path = write_split(tmp_path, SPLIT)
    path.write_bytes(path.read_bytes()[:20])
    write_split(tmp_path, SPLIT)

    assert read_splits(tmp_path, "ptb-xl") == [SPLIT]


def test_damaged_file_is_named(tmp_path: Path) -> None:
    write_split(tmp_path, SPLIT).write_text("{}")

    with pytest.raises(RecordError, match=r"splits/ptb-xl-.*field 'dataset'"):
        read_splits(tmp_path, "ptb-xl")
