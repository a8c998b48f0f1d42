"""The command lines that reproduce cells, from their records.

`DIR` stands for the folder of the datasets, which no record names. Cells of a preset that simulates its data need none.
"""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.paper.names import OURS
from bench.paper.published import ABLATION_DATASET
from bench.results.record import Record
from bench.studies.tried import n_tried

DEFAULT_PRESET = "paper"


@dataclass(frozen=True, order=True)
class _Kind:
    """What all cells of one command share besides models and seeds.

    ``simulated`` cells need no folder of datasets; ``configurations`` were tried for each model, 0 where none were.
    """

    recipe: str
    dataset: str
    preset: str
    simulated: bool
    configurations: int
    typed: tuple[str, ...]

    @classmethod
    def of(cls, record: Record) -> "_Kind":
        applied = record.settings["preset"]
        return cls(
            recipe=record.cell.recipe,
            dataset=record.cell.dataset,
            preset=applied["name"],
            simulated=applied["simulated"] and record.data.kind == "simulated",
            configurations=0 if record.is_estimator else n_tried(record) or 0,
            typed=_typed(record),
        )


def commands(records: Iterable[Record]) -> list[str]:
    """Return one command for all models that share recipe, dataset, preset, seeds and changed settings."""
    seeds: dict[tuple[_Kind, str], set[int]] = defaultdict(set)
    for record in records:
        seeds[_Kind.of(record), _spec(record)].add(record.cell.seed)
    grids: dict[tuple[_Kind, tuple[int, ...]], list[str]] = defaultdict(list)
    for (kind, model), found in sorted(seeds.items()):
        grids[kind, tuple(sorted(found))].append(model)
    return [_command(kind, models, found) for (kind, found), models in sorted(grids.items())]


def command_of(record: Record) -> str:
    """Return the command that trains one cell."""
    return _command(_Kind.of(record), [_spec(record)], [record.cell.seed])


def changed_settings(record: Record) -> tuple[str, ...]:
    """Return the settings that a preset or the user changed, as ``key=value`` texts."""
    values = _values(record)
    return tuple(f"{name}={_text(values[name])}" for name in record.settings["changed"])


def _typed(record: Record) -> tuple[str, ...]:
    """Return the values that the user set, as ``--set`` takes them."""
    values, origins = _values(record), record.settings["origins"]
    return tuple(
        f"{name}={_text(values[name])}" for name, origin in sorted(origins.items()) if origin == "--set"
    )


def _values(record: Record) -> dict[str, Any]:
    parts = ("training", "hyperparameters", "data", "execution")
    return {name: value for part in parts for name, value in record.settings[part].items()}


def _text(value: Any) -> str:
    """Return a value as ``--set`` reads it: TOML, or a bare text."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def _spec(record: Record) -> str:
    """Return the model's name on a command line; a user's own model, whose revision is a hash, by file and class."""
    if record.model_spec is not None:
        return record.model_spec
    file, dot, class_name = record.cell.model.rpartition(".")
    is_own = bool(dot) and isinstance(record.revisions["model"], str)
    return f"./{file}.py:{class_name}" if is_own else record.cell.model


def _command(kind: _Kind, models: Sequence[str], seeds: Sequence[int]) -> str:
    words = ["bench", "run", *(["--preset", kind.preset] if kind.preset != DEFAULT_PRESET else [])]
    words += ["--recipe", kind.recipe, "--datasets", kind.dataset, "--models", ",".join(models)]
    words += ["--seeds", ",".join(map(str, seeds)), *([] if kind.simulated else ["--data", "DIR"])]
    if kind.configurations:
        words += ["--configurations", str(kind.configurations)]
    if OURS in models and kind.dataset == ABLATION_DATASET:
        words.append("--no-ablation")
    for text in kind.typed:
        words += ["--set", text]
    return shlex.join(words)
