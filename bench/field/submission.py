"""A results pack as a submission: vouched for whole, then its cells become rows of the field's table.

A row is one model on one dataset under one recipe: mean and deviation over its seeds, whose scores follow from the
pack's predictions.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, stdev
from typing import Literal

from pydantic import Field, ValidationError

from bench.datasets.provenance import share_text
from bench.errors import RecordError
from bench.field.claimed import METRICS
from bench.files import atomic_file, sha256_of
from bench.plan.vouching import NO_CLASS, NO_SUBJECTS, Vouched, VouchedPack, vouch_for_pack, vouched_pack
from bench.results.field_types import Count, Line, Name, Seed, Share, Size
from bench.results.frozen_model import FrozenModel
from bench.results.json_record import first_fault
from bench.results.predictions import Predictions, load_predictions
from bench.results.record import DataDescription, Record, Sha256
from bench.studies.tried import n_tried

SCHEMA = 1
WINDOWS = "windows"
_MOST_BYTES = 2**26


class SubmittedCell(FrozenModel):
    """The test scores of one seed, as fractions of one; None where a metric cannot be computed."""

    seed: Seed
    key: Sha256
    scores: dict[Name, Share | None]


class SubmittedRow(FrozenModel):
    """One model on one dataset under one recipe; ``configurations`` is how many were tried, None without a search."""

    dataset: Name
    model: Line
    recipe: Name
    kind: Line
    split: Line
    changed: Line
    configurations: Size | None
    n_test_windows: Count
    n_test_subjects: Count
    cells: tuple[SubmittedCell, ...]

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over seeds in percent; None where no seed has it."""
        found = self._values(metric)
        return 100 * mean(found) if found else None

    def std(self, metric: str) -> float | None:
        """Return the sample deviation of a metric over seeds in percentage points; None for fewer than two seeds."""
        found = self._values(metric)
        return 100 * stdev(found) if len(found) > 1 else None

    def _values(self, metric: str) -> list[float]:
        return [value for cell in self.cells if (value := cell.scores.get(metric)) is not None]


class Submission(FrozenModel):
    """A pack that was vouched for, and its rows. ``devices`` are those that its cells ran on."""

    schema_version: Literal[1] = Field(alias="schema")
    pack: Line
    sha256: Sha256
    added: Line
    devices: tuple[Line, ...]
    versions: dict[Line, Line]
    rows: tuple[SubmittedRow, ...]


def verify(pack: Path) -> Submission:
    """Verify a pack as a submission; every cell must be vouched for, down to its key and its split.

    Raises
    ------
    RecordError
        The pack is damaged, a cell cannot be vouched for, or a model was tested on data that others cannot have.
    """
    return _submission(pack, vouch_for_pack(pack))


def _submission(pack: Path, vouched: VouchedPack) -> Submission:
    for cell in vouched.cells:
        _require_checked(pack, cell)
    done = [cell.record for cell in vouched.cells if cell.record.is_done]
    if not done:
        raise RecordError(f"{pack}: no finished cell; pack the results of a run that ended")
    return Submission(
        schema=SCHEMA,
        pack=pack.name,
        sha256=sha256_of(pack),
        added=datetime.now(UTC).date().isoformat(),
        devices=tuple(sorted({record.environment.device_name for record in done})),
        versions=dict(done[0].environment.versions),
        rows=_rows(done),
    )


def add(pack: Path, folder: Path) -> Submission:
    """Verify a pack and keep its rows, and its windows as CSV, in the folder of submissions.

    Cells that were submitted before are left out.

    Raises
    ------
    RecordError
        The pack is refused, or holds nothing new.
    """
    with vouched_pack(pack) as (out, vouched):
        known = {cell.key for old in submissions(folder) for row in old.rows for cell in row.cells}
        submission = _without(_submission(pack, vouched), known)
        if not submission.rows:
            raise RecordError(f"{pack}: all its cells were submitted before; nothing to add")
        wanted = {cell.key for row in submission.rows for cell in row.cells}
        for record in (cell.record for cell in vouched.cells if cell.record.key in wanted):
            _write_windows(folder / WINDOWS / f"{record.key[:12]}.csv", record, load_predictions(out, record))
    path = folder / f"{submission.sha256[:16]}.json"
    with atomic_file(path) as temporary:
        temporary.write_text(submission.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
    return submission


def submissions(folder: Path) -> list[Submission]:
    """Return the submissions of a folder, by name.

    Raises
    ------
    RecordError
        A file is no submission.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise RecordError(f"{path}: larger than any submission; remove it")
            found.append(Submission.model_validate(json.loads(path.read_text(encoding="utf-8"))))
        except ValidationError as error:
            raise RecordError(f"{path}: {first_fault(error)}; remove it and add its pack again") from error
        except (OSError, ValueError, RecursionError) as error:
            raise RecordError(f"{path}: no submission ({error}); remove it and add its pack again") from error
    return found


def _require_checked(pack: Path, cell: Vouched) -> None:
    record = cell.record
    where = f"{pack}: {record.cell.model} / {record.cell.dataset} / seed {record.cell.seed}"
    if NO_SUBJECTS in cell.unchecked:
        raise RecordError(
            f"{where}: the pack does not hold the subjects of its split, so nobody can check its key or that test "
            "subjects were not trained on; run 'bench run' on its results folder again and pack it again"
        )
    if NO_CLASS in cell.unchecked:
        raise RecordError(
            f"{where}: an estimator that this package does not have, so nobody can compute its key again; leave it out"
        )
    if record.data.kind in ("simulated", "own"):
        raise RecordError(
            f"{where}: {record.data.kind} data, which others cannot compare with; submit published data"
        )


def _without(submission: Submission, known: set[str]) -> Submission:
    """Leave out cells by their keys, and rows that are empty then."""
    rows = [
        row.model_copy(update={"cells": tuple(cell for cell in row.cells if cell.key not in known)})
        for row in submission.rows
    ]
    return submission.model_copy(update={"rows": tuple(row for row in rows if row.cells)})


def _write_windows(path: Path, record: Record, predictions: Predictions) -> None:
    """Write a line for each test window: where it comes from, its class, and the probability of each class."""
    names = record.data.class_names
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["window", "record", "subject", "label", "predicted", *names])
        columns = (predictions.window, predictions.record, predictions.subject)
        rows = zip(*columns, predictions.label, predictions.predicted, predictions.probability, strict=True)
        for window, source, subject, label, predicted, probability in rows:
            shares = [f"{share:.6f}" for share in probability]
            lines.writerow([window, source, subject, names[label], names[predicted], *shares])


def _rows(records: Sequence[Record]) -> tuple[SubmittedRow, ...]:
    groups: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in records:
        groups[_condition(record)].append(record)
    return tuple(_row(group) for _, group in sorted(groups.items()))


def _condition(record: Record) -> tuple[str, ...]:
    data = record.data
    name = record.cell
    return (
        name.dataset,
        name.model,
        name.recipe,
        data.fingerprint,
        data.normalisation,
        _changed(record),
        str(n_tried(record)),
    )


def _row(records: Sequence[Record]) -> SubmittedRow:
    first, data = records[0], records[0].data
    return SubmittedRow(
        dataset=first.cell.dataset,
        model=first.cell.model,
        recipe=first.cell.recipe,
        kind=_kind(data),
        split=data.split_origin,
        changed=_changed(first),
        configurations=n_tried(first),
        n_test_windows=data.parts["test"].n_windows,
        n_test_subjects=data.parts["test"].n_subjects,
        cells=tuple(_cell(record) for record in sorted(records, key=lambda record: record.cell.seed)),
    )


def _cell(record: Record) -> SubmittedCell:
    assert record.metrics is not None
    scores = {metric: getattr(record.metrics.test, metric) for metric in METRICS}
    return SubmittedCell(seed=record.cell.seed, key=record.key, scores=scores)


def _kind(data: DataDescription) -> str:
    return f"{data.kind}{share_text(data.share)}"


def _changed(record: Record) -> str:
    settings = record.settings
    values = settings["training"] | settings["hyperparameters"] | settings["data"]
    return ", ".join(f"{name}={values[name]}" for name in settings["changed"] if name in values)
