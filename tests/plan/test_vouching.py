"""A record is vouched for when its key, counts and scores follow from what it holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.datasets.contract import Split
from bench.datasets.splits import published_list
from bench.errors import RecordError
from bench.files import sha256_of
from bench.plan.cell import Cell, CellData
from bench.plan.vouching import NO_SUBJECTS, NO_VALIDATION, vouch_for
from bench.results.record import Record, SplitCounts
from bench.results.store import CellFolder, read_all
from bench.settings import CellSettings
from bench.train.scores import score
from tests.report.grids import Grid, write_grid

OLD = Path(__file__).parents[1] / "golden" / "results_3b72bbe"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Record]:
    """A cell on the published split of APAVA, with the key that follows from its record."""
    out = tmp_path_factory.mktemp("published")
    (record,) = write_grid(out, Grid(models=("transformer",), datasets=("apava",), seeds=(41,), n_epochs=2))
    listed = published_list("apava")
    assert listed is not None
    subjects = np.repeat(np.array(listed["test"]), 2)
    label = np.arange(len(subjects)) % 2
    record = _with_parts(record, {part: len(names) for part, names in listed.items()}, len(subjects))
    settings = CellSettings.model_validate(record.settings)
    split = Split(record.data.split_origin, **listed)
    cell = Cell(
        settings=settings, data=CellData(split=split, description=record.data), revisions=record.revisions
    )
    return out, _write(out, record.model_copy(update={"key": cell.key}), subjects, label)


def _with_parts(record: Record, n_subjects: dict[str, int], n_windows: int) -> Record:
    halves = (n_windows // 2, n_windows - n_windows // 2)
    parts: Any = {
        part: SplitCounts(n_subjects=number, n_windows=n_windows, windows_per_class=halves)
        for part, number in n_subjects.items()
    }
    data = record.data.model_copy(update={"parts": parts, "n_train_windows_used": n_windows})
    return record.model_copy(update={"data": data})


def _write(out: Path, record: Record, subjects: np.ndarray, label: np.ndarray) -> Record:
    """Write predictions that name such subjects, and return the record with their scores."""
    folder = CellFolder.of(out, record.cell, record.key)
    folder.path.mkdir(parents=True, exist_ok=True)
    logits = np.eye(2, dtype=np.float32)[(label + np.arange(len(label)) // 5) % 2]
    window = np.arange(len(label))
    np.savez(folder.predictions, logits=logits, label=label, subject=subjects, record=subjects, window=window)
    scores = score(logits, label, subjects, record.data.class_names)
    assert record.metrics is not None
    return record.model_copy(
        update={
            "metrics": record.metrics.model_copy(update={"test": scores}),
            "files": record.files | {"predictions.npz": sha256_of(folder.predictions)},
        }
    )


def test_the_key_of_a_published_split_is_computed_again(published: tuple[Path, Record]) -> None:
    assert vouch_for(*published).unchecked == (NO_VALIDATION,)


@pytest.mark.parametrize("record", read_all(OLD)[0], ids=lambda record: record.key[:6])
def test_trained_cells_are_vouched_for_but_for_what_no_record_holds(record: Record) -> None:
    assert vouch_for(OLD, record).unchecked == (NO_SUBJECTS, NO_VALIDATION)


def _training(record: Record, **changes: Any) -> dict[str, Any]:
    settings = record.settings
    return {"settings": settings | {"training": settings["training"] | changes}}


def _score(record: Record, **changes: Any) -> dict[str, Any]:
    assert record.metrics is not None
    test = record.metrics.test.model_copy(update=changes)
    return {"metrics": record.metrics.model_copy(update={"test": test})}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda r: _training(r, learning_rate=0.5), "key is .* follows from the record"),
        (
            lambda r: _training(r, learning_rate="<b>"),
            r"settings: field 'training\.(Training\.)?learning_rate'",
        ),
        (lambda r: _training(r, epochs=1), "2 epochs, its settings allow 1"),
        (lambda r: _training(r, max_train_windows=1), "n_train_windows_used is .* but 1 follows"),
        (lambda r: {"settings": r.settings | {"model": "medmamba"}}, r"cell\.model is 'transformer'"),
        (lambda r: {"revisions": r.revisions | {"model": 99}}, "key is"),
        (lambda r: _score(r, f1=0.999), r"metrics\.test\.f1 is 0\.999, but 0\."),
        (lambda r: _score(r, n_windows=1), r"metrics\.test\.n_windows is 1"),
        (lambda r: _score(r, per_class={}), r"metrics\.test\.per_class"),
        (lambda r: _score(r, auroc=None), r"metrics\.test\.auroc is None"),
        (lambda r: {"best_epoch": 7}, "best_epoch 7 is not in its history"),
        (lambda r: {"history": r.history[::-1]}, r"history is \[2, 1\]"),
    ],
)
def test_what_does_not_follow_is_refused(published: tuple[Path, Record], changed: Any, message: str) -> None:
    out, record = published
    # The files of the cell lie where its name and key put them.
    with pytest.raises(RecordError, match=message):
        vouch_for(out, record.model_copy(update=changed(record)))


def test_a_subject_of_another_part_is_refused(published: tuple[Path, Record], tmp_path: Path) -> None:
    _, record = published
    listed = published_list("apava")
    assert listed is not None
    strange = [listed["train"][0], *listed["test"][1:]]
    subjects = np.repeat(np.array(strange), 2)
    record = _write(tmp_path, record, subjects, np.arange(len(subjects)) % 2)
    with pytest.raises(RecordError, match=f"subject '{strange[0]}' is tested, but is none of the split's"):
        vouch_for(tmp_path, record)
