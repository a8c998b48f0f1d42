"""Hyperparameters from a settings file or a user, checked against the types of the constructor's defaults."""

import math
from collections.abc import Mapping
from typing import Any

from bench.errors import UsageError
from bench.models import registry as models

USER = "--set"


def checked(
    model: str, defaults: Mapping[str, Any], values: Mapping[str, Any], origins: Mapping[str, str]
) -> dict[str, Any]:
    """Return a model's hyperparameters in the types of its defaults, so that equal values are written alike.

    A whole number becomes a float where the default is one. Of the package's networks counts are at least 1 and floats
    are rates in [0, 1); of estimators and of a user's own model only the types are checked. A user's own estimator
    checks its values itself, since many take values of several types.

    Parameters
    ----------
    model
        A registered name.
    defaults
        Default values of its constructor.
    values
        Hyperparameters by name, all of them known to the model.
    origins
        Where each value comes from, for the message.

    Raises
    ------
    UsageError
        A value is of another type than the default, or out of bounds.
    """
    is_own, is_estimator = models.entry(model).is_own, models.is_estimator(model)
    if is_own and is_estimator:
        return {name: _as_written(value, defaults[name]) for name, value in values.items()}
    bounded = not (is_own or is_estimator)
    found = {}
    for name, value in values.items():
        try:
            found[name] = _fitted(value, defaults[name], bounded=bounded)
        except ValueError as error:
            raise UsageError(
                f"{blamed(origins[name], name, value)}: {error} ({model}'s default is {defaults[name]!r}); "
                "see 'bench list settings'"
            ) from error
    return found


def blamed(origin: str, name: str, value: Any) -> str:
    """Return the name of an unusable value for a message: as it was typed, or by its origin."""
    return f"--set {name}={value!r}" if origin == USER else f"{origin}: {name}={value!r}"


def _fitted(value: Any, default: Any, *, bounded: bool) -> Any:
    if default is None:
        return value
    if isinstance(default, list | tuple):
        return _fitted_list(value, default, bounded=bounded)
    if isinstance(default, bool) or isinstance(value, bool):
        _require(isinstance(default, bool) and isinstance(value, bool), f"not {_article(default)}")
        return value
    if isinstance(default, float) and isinstance(value, int | float):
        _require(math.isfinite(value), "not finite")
        _require(not bounded or 0 <= value < 1, "a rate is at least 0 and less than 1")
        return float(value)
    _require(isinstance(value, type(default)), f"not {_article(default)}")
    _require(not (bounded and isinstance(value, int)) or value >= 1, "not at least 1")
    return value


def _as_written(value: Any, default: Any) -> Any:
    """Return a value as a float where the default is one and the value is a number, so that equal keys are equal."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and isinstance(default, float) else value


def _fitted_list(value: Any, default: list[Any] | tuple[Any, ...], *, bounded: bool) -> Any:
    _require(isinstance(value, list | tuple) and len(value) > 0, "not a list such as [5, 10]")
    if not default:
        return value
    return type(value)(_fitted(item, default[0], bounded=bounded) for item in value)


def _require(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)


def _article(default: Any) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "a text")
