"""Scores by two versions of this package: where both know a number it must agree, where one does not it is filled."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from bench.results.record import Scores


def differences(first: BaseModel, second: BaseModel, tolerance: float = 0.0) -> list[str]:
    """Return the numbers that both know and that differ, as texts; what either does not know is no difference.

    Parameters
    ----------
    first, second
        Two models of one kind, scores or metrics.
    tolerance
        The largest difference between two numbers that counts as none.
    """
    before, after = _flat(first.model_dump()), _flat(second.model_dump())
    return [
        f"{name} {before[name]} -> {after[name]}"
        for name in before
        if name in after and not _agree(before[name], after[name], tolerance)
    ]


def unknown(scores: Scores, computed: Scores) -> list[str]:
    """Return the dotted names of the numbers that scores lack and that were computed."""
    before, after = _flat(scores.model_dump()), _flat(computed.model_dump())
    return [name for name, value in after.items() if value is not None and before.get(name) is None]


def filled(scores: Scores, computed: Scores) -> Scores:
    """Return scores with every number that they lack as computed; what they know stays as it is."""
    return Scores.model_validate(_filled(scores.model_dump(), computed.model_dump()))


def _filled(known: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _filled(value, computed[name])
        if isinstance(value, Mapping)
        else (computed[name] if value is None else value)
        for name, value in known.items()
    }


def _agree(first: Any, second: Any, tolerance: float) -> bool:
    if first is None or second is None or first == second:
        return True
    return isinstance(first, float) and isinstance(second, float) and abs(first - second) <= tolerance


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested values by dotted name, and under the name of each group the names in it."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat[f"{prefix}{name}"] = tuple(sorted(value))
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
