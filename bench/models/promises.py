"""What both batteries share, of networks and of estimators: checks, what came of them, and the shapes they are made at.

A check is a function ``check_*`` of a factory. It raises `BrokenPromise` where the promise is broken.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from bench.errors import BenchError, ModelError

Made = TypeVar("Made")
"""A factory of what is checked."""


class BrokenPromise(ModelError):  # noqa: N818 - named for what happened
    """A model computes something, and not what every model has to."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Shape of a task."""

    n_channels: int = 3
    n_times: int = 64
    n_classes: int = 3


SMALL = Shape()

DATASET_SHAPES = {
    "adftd": Shape(n_channels=19, n_times=256, n_classes=3),
    "apava": Shape(n_channels=16, n_times=256, n_classes=2),
    "ptb": Shape(n_channels=15, n_times=300, n_classes=2),
    "ptb-xl": Shape(n_channels=12, n_times=250, n_classes=5),
    "uci-har": Shape(n_channels=9, n_times=128, n_classes=6),
    "sleep-edf": Shape(n_channels=1, n_times=3000, n_classes=5),
}


@dataclass(frozen=True)
class Outcome:
    """What came of one check; ``problem`` is None when the model passed."""

    check: str
    problem: str | None


def run_checks(
    checks: Sequence[Callable[[Made], None]], make: Made, exceptions: Mapping[str, str]
) -> Iterator[Outcome]:
    """Run all checks, one outcome each, whatever the model raises.

    Raises
    ------
    ModelError
        ``exceptions`` names a check that does not exist.
    """
    unknown = sorted(set(exceptions) - {check.__name__ for check in checks})
    if unknown:
        raise ModelError(f"BATTERY_EXCEPTIONS names '{unknown[0]}', which is no check of the battery")
    for check in checks:
        try:
            verify(check, make, exceptions)
        except Exception as error:  # a user's model may raise anything; it is reported, not hidden
            yield Outcome(check.__name__, f"{type(error).__name__}: {error}")
        else:
            yield Outcome(check.__name__, None)


def verify(check: Callable[[Made], None], make: Made, exceptions: Mapping[str, str]) -> None:
    """Run one check; a model that is excepted has to refuse with an error of this package.

    Raises
    ------
    ModelError
        The model breaks the promise, or keeps one that it is excepted from.
    """
    reason = exceptions.get(check.__name__)
    try:
        check(make)
    except BrokenPromise:
        raise
    except BenchError:
        if reason is None:
            raise
        return
    if reason is not None:
        raise ModelError(
            f"{check.__name__} passes; take it out of BATTERY_EXCEPTIONS, where it says: {reason}"
        )


def exceptions_of(make: Callable[..., Any]) -> Mapping[str, str]:
    """Return the ``BATTERY_EXCEPTIONS`` of the module of a class or function, empty where there are none."""
    return getattr(sys.modules[make.__module__], "BATTERY_EXCEPTIONS", {})


def require(condition: bool, problem: str) -> None:
    """Raise `BrokenPromise` unless a condition holds."""
    if not condition:
        raise BrokenPromise(problem)


def global_states() -> dict[str, Any]:
    """Return the states of the global generators: NumPy's, Python's and, where it has been imported, torch's."""
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - the global state is what is looked at
    states = {"NumPy": (kind, np.asarray(keys).tolist(), rest), "Python": random.getstate()}
    if torch := sys.modules.get("torch"):
        states["torch"] = torch.get_rng_state().tolist()
    return states
