"""Records over seeds: which may be averaged and compared, and their mean and deviation."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.results.record import Record
from bench.stats.summary import DDOF
from bench.studies.tried import n_tried

# Hyperparameters of every model: changed by the user they are a condition of the whole comparison. Any other
# changed hyperparameter makes another model, with a row of its own.
SHARED = ("d_model", "n_layers", "dropout")


@dataclass(frozen=True)
class Condition:
    """What records must share to stand in one table: the data with its split, the recipe and the changed settings.

    ``changes`` are the values that a preset and the user gave for all models, even if a model has them by default;
    empty if they change nothing.
    """

    dataset: str
    recipe: str
    changes: str
    fingerprint: str
    normalisation: str
    split: str

    @classmethod
    def of(cls, record: Record, changes: Mapping[str, Any] | None = None) -> "Condition":
        """Return the condition of a record, with its own changes or with other changes that it fits."""
        data = record.data
        split = json.dumps(
            [data.split_origin, {name: part.model_dump() for name, part in data.parts.items()}]
        )
        return cls(
            record.cell.dataset,
            record.cell.recipe,
            _as_text(_changes(record) if changes is None else changes),
            data.fingerprint,
            data.normalisation,
            split,
        )


@dataclass(frozen=True)
class Mean:
    """Mean and sample deviation over seeds, as fractions of one; no deviation with one seed."""

    mean: float
    std: float | None
    n: int


@dataclass(frozen=True)
class Group:
    """All seeds of one model under one condition: at most one record for each.

    ``model`` is its label: the name, and the hyperparameters that the user changed for this model only.
    """

    model: str
    records: tuple[Record, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that have scores."""
        return tuple(record.cell.seed for record in self.records if record.is_done)

    @property
    def failed(self) -> tuple[Record, ...]:
        """The records without scores."""
        return tuple(record for record in self.records if not record.is_done)

    def by_seed(self, metric: str) -> dict[int, float]:
        """Return a test metric of each seed that has it, as a fraction of one."""
        return {
            record.cell.seed: value
            for record in self.records
            if record.metrics is not None and (value := getattr(record.metrics.test, metric)) is not None
        }

    def score(self, metric: str) -> Mean | None:
        """Return a test metric over seeds, or None where no record has it."""
        values = list(self.by_seed(metric).values())
        if not values:
            return None
        std = float(np.std(values, ddof=DDOF)) if len(values) > 1 else None
        return Mean(float(np.mean(values)), std, len(values))


def seed_differences(first: Group, second: Group, metric: str) -> list[float]:
    """Return the first model's score minus the second's, in percentage points, for each seed of both."""
    scores, others = first.by_seed(metric), second.by_seed(metric)
    return [100 * (scores[seed] - others[seed]) for seed in sorted(scores.keys() & others.keys())]


@dataclass(frozen=True)
class Comparison:
    """All models under one condition. ``n_superseded`` records of older code revisions are left out."""

    condition: Condition
    groups: tuple[Group, ...]
    n_superseded: int

    @property
    def records(self) -> tuple[Record, ...]:
        """All records of all groups."""
        return tuple(record for group in self.groups for record in group.records)


def compare(records: Iterable[Record]) -> list[Comparison]:
    """Sort records into comparisons; of a cell's records the newest is used.

    A record belongs to every comparison whose changes do not alter it: a value set by the user may be the default.
    """
    by_place: dict[Condition, list[Record]] = defaultdict(list)
    for record in records:
        by_place[Condition.of(record, {})].append(record)
    found = [
        (Condition.of(members[0], changes), members)
        for same_place in by_place.values()
        for changes, members in _by_changes(same_place)
    ]
    comparisons = []
    for condition, members in sorted(
        found, key=lambda item: (item[0].dataset, item[0].recipe, item[0].changes)
    ):
        current = _current(members)
        models: dict[str, list[Record]] = defaultdict(list)
        for record in current:
            models[label_of(record)].append(record)
        groups = tuple(Group(model, tuple(models[model])) for model in sorted(models))
        comparisons.append(Comparison(condition, groups, len(members) - len(current)))
    return comparisons


def _by_changes(records: Sequence[Record]) -> list[tuple[dict[str, Any], list[Record]]]:
    """Group records of one recipe and the same data by changes; of equal groups the least changed stays."""
    by_changes: dict[str, tuple[dict[str, Any], list[Record]]] = {}
    for record in records:
        changes = _given(record)
        by_changes.setdefault(_as_text(changes), (changes, []))[1].append(record)
    groups: dict[tuple[int, ...], tuple[dict[str, Any], list[Record]]] = {}
    for changes, changed_so in sorted(by_changes.values(), key=lambda item: len(item[0])):
        wanted = changes if any(_changes(record) for record in changed_so) else {}
        members = [record for record in records if record in changed_so or _fits(record, wanted)]
        groups.setdefault(tuple(map(id, members)), (wanted, members))
    return [group for ids, group in groups.items() if not _is_contained(ids, group[1], groups)]


def _is_contained(ids: tuple[int, ...], members: Sequence[Record], groups: Iterable[tuple[int, ...]]) -> bool:
    """Whether a group is of estimators alone and part of another: changed epochs change nothing for estimators."""
    return all(record.is_estimator for record in members) and any(set(ids) < set(other) for other in groups)


def _fits(record: Record, changes: Mapping[str, Any]) -> bool:
    """Whether a cell would be the same if these values had been set for it."""
    settings = record.settings
    values = settings["training"] | settings["data"] | settings["hyperparameters"]
    alone = {name for name in _own_changes(record) if name not in SHARED}
    rest = set(settings["changed"]) & values.keys() - alone - changes.keys()
    same = all(values[name] == value for name, value in changes.items() if name in values)
    return same and not rest and not alone & changes.keys()


def _current(records: Sequence[Record]) -> list[Record]:
    """Return one record per model and seed: of the newest revision, then of the latest start.

    Of a model that was tuned again among more configurations only those records count: seeds of one row have one
    configuration.
    """
    most: dict[str, int] = defaultdict(int)
    for record in records:
        most[label_of(record)] = max(most[label_of(record)], n_tried(record) or 0)
    newest: dict[tuple[str, int], Record] = {}
    for record in records:
        if (n_tried(record) or 0) < most[label_of(record)]:
            continue
        name = (label_of(record), record.cell.seed)
        if name not in newest or _age(record) > _age(newest[name]):
            newest[name] = record
    return [newest[name] for name in sorted(newest)]


def label_of(record: Record) -> str:
    """Return the label of a record's model: its name, and the hyperparameters that the user changed for it alone."""
    changed = {name: value for name, value in _own_changes(record).items() if name not in SHARED}
    return f"{record.cell.model} ({_as_text(changed)})" if changed else record.cell.model


def _age(record: Record) -> tuple[int, int, str]:
    """Return a sort key that grows with every revision; the hashes of a user's own model are ordered by time only."""
    trainer, model = (
        r if isinstance(r := record.revisions[part], int) else 0 for part in ("trainer", "model")
    )
    return trainer, model, record.timing.started


def _changes(record: Record) -> dict[str, Any]:
    """Return the values that a preset and the user gave for all models; empty if they change nothing."""
    alone = {name for name in _own_changes(record) if name not in SHARED}
    changed = set(record.settings["changed"]) - set(record.settings["execution"]) - alone
    return _given(record) if changed else {}


def _given(record: Record) -> dict[str, Any]:
    settings = record.settings
    values = settings["training"] | settings["data"]
    values |= {name: value for name, value in settings["hyperparameters"].items() if name in SHARED}
    typed = {
        name: values[name]
        for name, origin in settings["origins"].items()
        if origin == "--set" and name in values
    }
    return settings["preset"]["training"] | settings["preset"]["hyperparameters"] | typed


def _own_changes(record: Record) -> dict[str, Any]:
    """Return the hyperparameters that differ from the preset's and the published settings."""
    settings = record.settings
    of_preset = settings["preset"]["hyperparameters"]
    return {
        name: value
        for name, value in settings["hyperparameters"].items()
        if (value != of_preset[name] if name in of_preset else name in settings["changed"])
    }


def _as_text(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items()))
