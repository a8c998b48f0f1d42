"""What differs between two results folders, cell by cell, and whether it matters.

Cells are matched by their key, then by their name (model, dataset, seed, recipe). Equal keys must give equal
numbers in an equal environment; in another they may differ by rounding, which matters only if the difference is
larger than between seeds. Unequal keys are different experiments: the settings that make the keys differ are named.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bench.errors import RecordError
from bench.results.known_scores import differences
from bench.results.record import Environment, Record
from bench.results.store import read_all
from bench.studies.aggregate import Condition, label_of

Kind = Literal[
    "equal", "environment", "numbers", "settings", "outcome", "only in the first", "only in the second"
]

METRIC = "f1"
KNOWN_SPREAD_POINTS = 0.5
"""With fewer than two seeds to estimate the spread from, differences below this many points do not matter."""

Key = tuple[str, str, int, str]
Spread = Mapping[tuple[str, Condition], float]


@dataclass(frozen=True)
class Difference:
    """One cell of both results folders, or of one of them.

    `points` is the second's test macro F1 minus the first's, in percentage points.
    """

    cell: str
    kind: Kind
    detail: str
    matters: bool
    points: float | None = None


def compare_sets(first: Path, second: Path) -> list[Difference]:
    """Return one line for each cell of two results folders, in the order of the cells' names.

    Raises
    ------
    RecordError
        A folder has no record, or an unreadable one.
    """
    before, after = _by_cell(first), _by_cell(second)
    spread = _spread(record for records in before.values() for record in records)
    lines = []
    for name in sorted(before.keys() | after.keys()):
        lines.extend(_compare_cell(name, before.get(name, []), after.get(name, []), spread))
    return lines


def _by_cell(out: Path) -> dict[Key, list[Record]]:
    records, damaged = read_all(out)
    if damaged:
        raise damaged[0]
    if not records:
        raise RecordError(f"{out}: no record of a finished cell; name a results folder")
    cells: dict[Key, list[Record]] = defaultdict(list)
    for record in records:
        cells[record.cell.model, record.cell.dataset, record.cell.seed, record.cell.recipe].append(record)
    return cells


def _compare_cell(name: Key, before: list[Record], after: list[Record], spread: Spread) -> list[Difference]:
    """Match the records of one cell by key, then by name if one record is left on each side."""
    label = f"{name[0]} / {name[1]} / seed {name[2]} / {name[3]}"
    by_key = {record.key: record for record in after}
    lines = [
        _same_key(label, record, by_key[record.key], spread.get((label_of(record), Condition.of(record))))
        for record in before
        if record.key in by_key
    ]
    left = [record for record in before if record.key not in by_key]
    keys = {record.key for record in before}
    right = [record for record in after if record.key not in keys]
    if len(left) == len(right) == 1:
        return [*lines, _other_key(label, left[0], right[0])]
    lines.extend(Difference(label, "only in the first", _alone(record, after), True) for record in left)
    lines.extend(Difference(label, "only in the second", _alone(record, before), True) for record in right)
    return lines


def _alone(record: Record, others: Sequence[Record]) -> str:
    """Return what distinguishes a record from the most similar one of the same cell in the other folder."""
    changes = min((setting_differences(record, other) for other in others), key=len, default=None)
    if changes is None:
        return f"key {record.key[:12]}"
    differences = "; ".join(changes) or "subjects of the split"
    return f"key {record.key[:12]}; the most similar cell of the other set differs in: {differences}"


def _same_key(label: str, first: Record, second: Record, spread: float | None) -> Difference:
    if first.outcome != second.outcome:
        return Difference(label, "outcome", f"{first.outcome}, then {second.outcome}", True)
    places = _differences_of_place(first, second)
    if _have_same_scores(first, second):
        same = "same numbers" if first.metrics else f"both {first.outcome}"
        detail = f"{same}; {', '.join(places)}" if places else f"{same}, same environment"
        return Difference(label, "equal", detail, False, 0.0 if first.metrics else None)
    points = _points(first, second)
    if not places:
        detail = "same key and environment, other numbers: one of them is not reproducible"
        return Difference(label, "numbers", detail, True, points)
    if spread is None:
        bound, why = (
            KNOWN_SPREAD_POINTS,
            "the first set has fewer than two seeds: 0.5 points assumed between seeds",
        )
    else:
        bound, why = spread, f"seeds of the first set have a deviation of {spread:.2f} points"
    matters = points is not None and abs(points) > bound
    return Difference(label, "environment", f"{', '.join(places)}; {why}", matters, points)


def _have_same_scores(first: Record, second: Record) -> bool:
    """Tell whether all scores that both records have are equal: one of them may have been scored anew since."""
    if first.metrics is None or second.metrics is None:
        return first.metrics is second.metrics
    return not differences(first.metrics, second.metrics)


def _other_key(label: str, first: Record, second: Record) -> Difference:
    changed = setting_differences(first, second)
    detail = "another experiment: " + ("; ".join(changed) or "the split's subjects")
    return Difference(label, "settings", detail, True, _points(first, second))


def environment_differences(first: Environment, second: Environment) -> list[str]:
    """Return the differences between two environments, as texts."""
    return _changed(_flat(first.model_dump()), _flat(second.model_dump()))


def _differences_of_place(first: Record, second: Record) -> list[str]:
    """Return the causes of unequal numbers of one key: environments, and a micro-batch halved for lack of memory."""
    sizes = [{"micro-batch used": record.micro_batch_size_used} for record in (first, second)]
    return [*environment_differences(first.environment, second.environment), *_changed(*sizes)]


def setting_differences(first: Record, second: Record) -> list[str]:
    """Return the settings that make the keys of two records differ, as texts."""
    return _changed(_key_parts(first), _key_parts(second))


def _key_parts(record: Record) -> dict[str, Any]:
    data = record.data
    return _flat(
        {
            "training": record.settings["training"],
            "hyperparameters": record.settings["hyperparameters"],
            "revisions": dict(record.revisions),
            "fingerprint": data.fingerprint[:12],
            "normalisation": data.normalisation,
            "split": data.split_origin,
            "parts": {name: part.n_subjects for name, part in data.parts.items()},
        }
    )


def _changed(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} {first.get(name, 'absent')} -> {second.get(name, 'absent')}"
        for name in sorted(first.keys() | second.keys())
        if first.get(name) != second.get(name)
    ]


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested values by dotted name."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _points(first: Record, second: Record) -> float | None:
    if first.metrics is None or second.metrics is None:
        return None
    return 100 * (getattr(second.metrics.test, METRIC) - getattr(first.metrics.test, METRIC))


def _spread(records: Iterable[Record]) -> Spread:
    """Return the sample deviation over seeds in points for each model and condition that has two seeds or more."""
    scores: dict[tuple[str, Condition], list[float]] = defaultdict(list)
    for record in records:
        if record.metrics is not None:
            scores[label_of(record), Condition.of(record)].append(100 * getattr(record.metrics.test, METRIC))
    return {name: float(np.std(values, ddof=1)) for name, values in scores.items() if len(values) > 1}
