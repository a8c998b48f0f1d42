"""Records as a tidy table: a row for each cell, part of the data and metric."""

import csv
import hashlib
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.results.metrics import METRICS
from bench.results.record import Outcome, Record
from bench.results.store import CellFolder
from bench.studies.aggregate import Condition, compare, label_of

if TYPE_CHECKING:
    import pandas as pd


class TidyRow(NamedTuple):
    """One score of one cell, as a fraction of one; ``value`` is None for a cell without scores.

    ``model_label`` is the model as tables name it. ``condition`` is equal where cells may stand in one comparison;
    ``changes`` to ``split`` say what it is made of. A row is ``superseded`` where a later revision or a later run
    of the same cell stands in the tables. ``folder`` is the cell's, below the results folder.
    """

    model: str
    model_label: str
    dataset: str
    seed: int
    recipe: str
    part: str
    metric: str
    value: float | None
    outcome: Outcome
    key: str
    condition: str
    changes: str
    data_kind: str
    data_version: str
    fingerprint: str
    normalisation: str
    split: str
    model_revision: str
    trainer_revision: str
    superseded: bool
    device: str
    started: str
    folder: str


def tidy_rows(records: Sequence[Record]) -> list[TidyRow]:
    """Return the rows of all records, in their order; a cell without scores has its rows too."""
    current = {id(record) for comparison in compare(records) for record in comparison.records}
    return [row for record in records for row in _rows(record, superseded=id(record) not in current)]


def as_csv(rows: Iterable[TidyRow]) -> str:
    """Return rows as CSV with a heading; an absent value is empty, other numbers have all their digits."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(TidyRow._fields)
    writer.writerows(rows)
    return text.getvalue()


def as_frame(rows: Iterable[TidyRow]) -> "pd.DataFrame":
    """Return rows as a data frame; an absent value is NaN."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(TidyRow._fields)).astype({"seed": int, "value": float})


def _rows(record: Record, *, superseded: bool) -> list[TidyRow]:
    cell, data, condition = record.cell, record.data, Condition.of(record)
    return [
        TidyRow(
            model=cell.model,
            model_label=label_of(record),
            dataset=cell.dataset,
            seed=cell.seed,
            recipe=cell.recipe,
            part=part,
            metric=metric,
            value=None if record.metrics is None else getattr(getattr(record.metrics, part), metric),
            outcome=record.outcome,
            key=record.key,
            condition=hashlib.sha256(repr(condition).encode()).hexdigest()[:12],
            changes=condition.changes,
            data_kind=data.kind,
            data_version=data.version,
            fingerprint=data.fingerprint,
            normalisation=data.normalisation,
            split=data.split_origin,
            model_revision=str(record.revisions["model"]),
            trainer_revision=str(record.revisions["trainer"]),
            superseded=superseded,
            device=record.environment.device,
            started=record.timing.started,
            folder=CellFolder.of(Path(), cell, record.key).path.as_posix(),
        )
        for part in ("val", "test")
        for metric in METRICS
    ]
