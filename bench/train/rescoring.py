"""Scores of finished cells computed anew from their saved predictions, without training.

Only the test part can be scored anew: the predictions on validation windows are not kept.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench import __version__
from bench.errors import RecordError
from bench.results.known_scores import differences, filled, unknown
from bench.results.predictions import load_predictions
from bench.results.record import Record, Rescored
from bench.results.store import CellFolder, write_record
from bench.train.scores import score

ROUNDING = 1e-6
"""Scores of equal predictions may differ by so much between versions of libraries."""


@dataclass(frozen=True)
class Rescoring:
    """A record with the scores that it lacked, named in ``names``; the record as it was if it lacks none."""

    record: Record
    names: tuple[str, ...]


def rescore(out: Path, record: Record) -> Rescoring:
    """Score a finished cell's saved predictions; write nothing.

    Key, files and every score that the record has stay as they are.

    Raises
    ------
    RecordError
        The predictions are absent or damaged, or give other scores than the record has.
    """
    predictions = load_predictions(out, record)
    assert record.metrics is not None, f"the record of {record.cell} has no scores"
    test = record.metrics.test
    computed = score(
        predictions.logits, predictions.label.astype(np.int64), predictions.subject, record.data.class_names
    )
    disagreements = differences(test, computed, ROUNDING)
    if disagreements:
        raise RecordError(
            f"{CellFolder.of(out, record.cell, record.key).record}: its predictions give other scores than it has "
            f"({len(disagreements)}, the first: {disagreements[0]}); left as it is, remove it to have the cell trained "
            "again"
        )
    names = tuple(unknown(test, computed))
    if not names:
        return Rescoring(record, ())
    by = Rescored(version=__version__, date=datetime.now(UTC).date().isoformat(), filled=names)
    metrics = record.metrics.model_copy(update={"test": filled(test, computed)})
    return Rescoring(record.model_copy(update={"metrics": metrics, "rescored": by}), names)


def keep(out: Path, rescoring: Rescoring) -> None:
    """Write a record that has new scores, whole or not at all."""
    record = rescoring.record
    write_record(CellFolder.of(out, record.cell, record.key), record)
