"""The command lines that make cells again, from their records."""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from bench.results.record import Record

_Grid = tuple[str, str, tuple[int, ...], tuple[str, ...]]


def commands(records: Iterable[Record]) -> list[str]:
    """Return one command for all models that share recipe, dataset, seeds and changed settings."""
    seeds: dict[tuple[str, str, str, tuple[str, ...]], set[int]] = defaultdict(set)
    for one in records:
        seeds[one.cell.recipe, one.cell.dataset, one.cell.model, assignments(one)].add(one.cell.seed)
    grids: dict[_Grid, list[str]] = defaultdict(list)
    for (recipe, dataset, model, changes), found in sorted(seeds.items()):
        grids[recipe, dataset, tuple(sorted(found)), changes].append(model)
    return [
        _command(recipe, dataset, models, found, changes)
        for (recipe, dataset, found, changes), models in sorted(grids.items())
    ]


def command_of(record: Record) -> str:
    """Return the command that makes one cell."""
    cell = record.cell
    return _command(cell.recipe, cell.dataset, [cell.model], [cell.seed], assignments(record))


def assignments(record: Record) -> tuple[str, ...]:
    """Return what a preset or the user changed as ``key=value`` texts, which ``--set`` takes."""
    settings = record.settings
    values: dict[str, Any] = {**settings["training"], **settings["hyperparameters"], **settings["data"]}
    return tuple(
        f"{name}={_value(values[name])}"
        for name, origin in sorted(settings["origins"].items())
        if origin in ("preset", "--set") and name in values
    )


def _value(value: Any) -> str:
    """Return a value as ``--set`` reads it: TOML, or a bare text."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def _command(
    recipe: str, dataset: str, models: Sequence[str], seeds: Sequence[int], changes: Sequence[str]
) -> str:
    words = ["bench", "run", "--recipe", recipe, "--datasets", dataset, "--models", ",".join(models)]
    words.extend(["--seeds", ",".join(map(str, seeds))])
    for change in changes:
        words.extend(["--set", change])
    return shlex.join(words)
