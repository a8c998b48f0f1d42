"""What can be vouched for in a record: its key, its scores and its split, computed again from what it holds."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from bench.datasets.contract import Split
from bench.datasets.splits import PARTS, published_list
from bench.errors import RecordError
from bench.estimators.identity import Identity
from bench.models.catalogue import ESTIMATORS
from bench.plan.cell import Cell, CellData, identity_of
from bench.results.json_record import first_fault
from bench.results.pack import cell_files, verify_pack
from bench.results.predictions import Predictions, load_predictions
from bench.results.record import Record, Scores
from bench.results.split_file import FOLDER as SPLITS
from bench.results.split_file import read_splits
from bench.results.store import CellFolder, read_all
from bench.settings import CellSettings
from bench.train.scores import score

REMEDY = "ask its author, or train the cell again"
NO_SUBJECTS = "its key, and that no subject is in two parts: no list of its split's subjects is beside it"
NO_CLASS = "its key, since it is an estimator that this package does not have"
NO_VALIDATION = "validation scores: a record keeps only the predictions of test windows"

_OUR_ESTIMATORS = {entry.name for entry in ESTIMATORS}

# The splits whose lists of subjects this package has.
_LISTED = ("published", "ours")
# Sums in another order, by another version of a library, differ in the last places.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Vouched:
    """A record that holds what it says; ``unchecked`` says what nothing in it allows to compute again."""

    record: Record
    unchecked: tuple[str, ...]


@dataclass(frozen=True)
class VouchedPack:
    """A pack with its number of files, all as its manifest says, and its records."""

    n_files: int
    cells: tuple[Vouched, ...]


def vouch_for_pack(archive: Path) -> VouchedPack:
    """Vouch for all records of a pack, after each of its bytes is checked.

    Raises
    ------
    RecordError
        The pack or a record cannot be vouched for; the message names it.
    """
    with vouched_pack(archive) as (_, found):
        return found


@contextmanager
def vouched_pack(archive: Path) -> Iterator[tuple[Path, VouchedPack]]:
    """Give a folder with the records, predictions and splits of a pack that is vouched for; it is removed at the end.

    Raises
    ------
    RecordError
        As `vouch_for_pack`.
    """
    n_files = verify_pack(archive)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        for name, content in cell_files(archive):
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.writelines(content)
        records, damaged = read_all(out)
        if damaged:
            raise damaged[0]
        yield out, VouchedPack(n_files, tuple(vouch_for(out, record) for record in records))


def vouch_for(out: Path, record: Record) -> Vouched:
    """Vouch for one record of a results folder.

    Raises
    ------
    RecordError
        Its key, its scores or its counts are not those that follow from its settings, its predictions and its split.
    """
    where = str(CellFolder.of(Path(), record.cell, record.key).record)
    settings = _settings(where, record)
    _require_counts(where, record, settings)
    splits = _known_splits(out, record)
    unchecked = []
    if settings.is_estimator and settings.model not in _OUR_ESTIMATORS:
        unchecked.append(NO_CLASS)
        keys = dict.fromkeys([record.key], splits[0]) if splits else {}
    else:
        keys = {_key(record, settings, split): split for split in splits}
    if not splits:
        unchecked.append(NO_SUBJECTS)
    elif record.key not in keys:
        _require(where, "key", record.key, next(iter(keys)))
    split = keys.get(record.key)
    if record.metrics is not None:
        predictions = load_predictions(out, record)
        _require_windows(where, predictions, split)
        _require_scores(where, record, record.metrics.test, predictions)
        unchecked.append(NO_VALIDATION)
    return Vouched(record, tuple(unchecked))


def _settings(where: str, record: Record) -> CellSettings:
    try:
        settings = CellSettings.model_validate(record.settings)
    except ValidationError as error:
        raise RecordError(f"{where}: settings: {first_fault(error)}; {REMEDY}") from error
    for name, said in record.cell:
        _require(where, f"cell.{name}", said, getattr(settings, name))
    return settings


def _require_counts(where: str, record: Record, settings: CellSettings) -> None:
    """Compare what a record counts with its settings and its own lists."""
    n_train = record.data.parts["train"].n_windows
    used = min(n_train, settings.training.max_train_windows or n_train)
    _require(where, "data.n_train_windows_used", record.data.n_train_windows_used, used)
    asked = settings.data.normalisation or record.data.normalisation
    _require(where, "data.normalisation", record.data.normalisation, asked)
    epochs = [epoch.epoch for epoch in record.history]
    _require(where, "history", epochs, list(range(1, len(epochs) + 1)))
    most = 0 if settings.is_estimator else settings.protocol.epochs
    if len(epochs) > most:
        raise RecordError(f"{where}: {len(epochs)} epochs, its settings allow {most}; {REMEDY}")
    if record.best_epoch is not None and record.best_epoch not in epochs:
        raise RecordError(f"{where}: best_epoch {record.best_epoch} is not in its history; {REMEDY}")


def _known_splits(out: Path, record: Record) -> list[Split]:
    """Return the splits whose subjects are known, as many as the record counts: this package's, and those in ``out``.

    Raises
    ------
    RecordError
        A split in ``out`` has a subject in two parts.
    """
    origin, dataset = record.data.split_origin, record.cell.dataset
    listed = published_list(dataset) if origin in _LISTED else None
    found = [] if listed is None else [Split(origin, **listed)]
    for kept in read_splits(out, dataset):
        if kept.shared_subjects:
            raise RecordError(
                f"{out / SPLITS}: subject '{kept.shared_subjects[0]}' of {dataset} is in two parts of a split; {REMEDY}"
            )
        found.append(Split(origin, kept.train, kept.validation, kept.test))
    counts = {part: record.data.parts[part].n_subjects for part in PARTS}
    return [split for split in found if all(len(getattr(split, part)) == counts[part] for part in PARTS)]


def _key(record: Record, settings: CellSettings, split: Split) -> str:
    data = CellData(split=split, description=record.data)
    identity = _identity(record, settings) if settings.is_estimator else None
    return Cell(settings=settings, data=data, revisions=record.revisions, identity=identity).key


def _identity(record: Record, settings: CellSettings) -> Identity | None:
    """Return what one of this package's estimators is by its settings, with the packages that the record names."""
    named = [
        entry.rpartition(" ") for entry in str(record.revisions.get("packages", "")).split(", ") if entry
    ]
    found = identity_of(settings)
    return None if found is None else replace(found, packages={name: version for name, _, version in named})


def _require_windows(where: str, predictions: Predictions, split: Split | None) -> None:
    """Refuse a window that counts twice, and test subjects who are not those of the split."""
    if len(np.unique(predictions.window)) < len(predictions.window):
        raise RecordError(f"{where}: a test window counts twice in its predictions; {REMEDY}")
    if split is not None:
        found = {str(subject) for subject in np.unique(predictions.subject)}
        strange = sorted(found - set(split.test))
        if strange:
            raise RecordError(
                f"{where}: subject '{strange[0]}' is tested, but is none of the split's test part; {REMEDY}"
            )


def _require_scores(where: str, record: Record, said: Scores, predictions: Predictions) -> None:
    label = predictions.label.astype(np.int64)
    found = score(predictions.logits, label, predictions.subject, record.data.class_names)
    _require(where, "metrics.test.absent_classes", said.absent_classes, found.absent_classes)
    _require(where, "metrics.test.per_class", sorted(said.per_class), sorted(found.per_class))
    numbers = _numbers(found)
    for name, value in _numbers(said).items():
        expected = numbers[name]
        if value is None or expected is None or abs(value - expected) > _ROUNDING * max(1.0, expected):
            _require(where, f"metrics.test.{name}", value, expected)


def _numbers(scores: Scores) -> dict[str, float | None]:
    """Return every number of scores by its name."""
    numbers = scores.model_dump(exclude={"absent_classes", "per_class"})
    for class_name, of_class in scores.per_class.items():
        numbers |= {f"per_class.{class_name}.{name}": value for name, value in of_class}
    return numbers


def _require(where: str, what: str, said: object, found: object) -> None:
    if said != found:
        raise RecordError(f"{where}: {what} is {said!r}, but {found!r} follows from the record; {REMEDY}")
