"""Predictions are checked when they are read, and errors name the file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.errors import RecordError
from bench.results.predictions import load_predictions, read_predictions
from bench.results.record import Record
from bench.results.store import CellFolder
from tests.report.grids import Grid, write_grid

ARRAYS = {
    "logits": np.array([[1.0, 2.0], [3.0, 0.0], [1.0, 1.0]], dtype=np.float32),
    "label": np.array([1, 0, 1]),
    "subject": np.array(["a", "a", "b"]),
    "record": np.array(["r", "r", "s"]),
    "window": np.array([4, 5, 9]),
}


def write(path: Path, **changes: Any) -> Path:
    arrays: dict[str, Any] = ARRAYS | changes
    np.savez_compressed(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


@pytest.fixture
def cell(tmp_path: Path) -> tuple[Path, Record]:
    return tmp_path, write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,)))[0]


def predictions_path(out: Path, record: Record) -> Path:
    return CellFolder.of(out, record.cell, record.key).predictions


def test_reads_what_was_written(tmp_path: Path) -> None:
    found = read_predictions(write(tmp_path / "predictions.npz"))
    assert found.predicted.tolist() == [1, 0, 0]
    assert found.probability.sum(axis=1) == pytest.approx([1.0, 1.0, 1.0])
    assert found.probability[2].tolist() == [0.5, 0.5]


def test_large_logits_do_not_overflow(tmp_path: Path) -> None:
    logits = np.array([[1000.0, -1000.0]] * 3)
    assert read_predictions(write(tmp_path / "p.npz", logits=logits)).probability[0].tolist() == [1.0, 0.0]


def test_same_windows_are_recognised(tmp_path: Path) -> None:
    first = read_predictions(write(tmp_path / "1.npz"))
    assert first.same_windows(read_predictions(write(tmp_path / "2.npz", logits=ARRAYS["logits"] * 2)))
    assert not first.same_windows(read_predictions(write(tmp_path / "3.npz", window=np.array([4, 5, 8]))))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": None}, "no array label"),
        ({"logits": np.zeros((2, 2))}, "array 'logits' has 2 windows, expected 3"),
        ({"logits": np.zeros(3)}, r"array 'logits' has shape \(3,\)"),
        ({"logits": np.array([[1, 2]] * 3)}, "array 'logits' is of type int64"),
        ({"logits": np.full((3, 2), np.nan)}, "not finite"),
        ({"label": np.array([0, 1, 2])}, "array 'label' has classes 0 to 2, array 'logits' has 2 columns"),
        ({"label": np.array([0, -1, 1])}, "classes -1 to 1"),
        ({"subject": np.array([1, 2, 3])}, "array 'subject' is of type int64"),
        ({name: array[:0] for name, array in ARRAYS.items()}, "no test window"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "predictions.npz", **changes)
    with pytest.raises(RecordError, match=rf"predictions\.npz.*{message}"):
        read_predictions(path)


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    path = write(tmp_path / "predictions.npz", subject=np.array(["a", None, "b"], dtype=object))
    with pytest.raises(RecordError, match=r"predictions\.npz: not readable as predictions"):
        read_predictions(path)


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "predictions.npz").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(RecordError, match=r"predictions\.npz: not readable as predictions"):
        read_predictions(tmp_path / "predictions.npz")


def test_loads_those_of_a_record(cell: tuple[Path, Record]) -> None:
    out, record = cell
    assert len(load_predictions(out, record).label) == record.data.parts["test"].n_windows


def test_changed_bytes_are_noticed(cell: tuple[Path, Record]) -> None:
    out, record = cell
    write(predictions_path(out, record))
    with pytest.raises(RecordError, match=r"predictions\.npz: SHA-256 is .* the record has"):
        load_predictions(out, record)


def test_an_absent_file_is_noticed(cell: tuple[Path, Record]) -> None:
    out, record = cell
    predictions_path(out, record).unlink()
    with pytest.raises(RecordError, match=r"predictions\.npz: no such file"):
        load_predictions(out, record)


def test_a_record_without_predictions_says_its_outcome(tmp_path: Path) -> None:
    failed = frozenset({("medmamba", "ptb", 41)})
    record = write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,), failed=failed))[
        0
    ]
    with pytest.raises(RecordError, match=r"outcome timeout\) names no predictions\.npz"):
        load_predictions(tmp_path, record)


def test_predictions_of_other_classes_than_the_records_are_refused(cell: tuple[Path, Record]) -> None:
    out, record = cell
    data = record.data.model_copy(update={"class_names": ("a", "b", "c")})
    with pytest.raises(RecordError, match="has 2 classes, expected 3"):
        load_predictions(out, record.model_copy(update={"data": data}))
