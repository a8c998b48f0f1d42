"""The promises of every estimator, registered or a user's own: one ``check_*`` function each.

A check takes a factory of unfitted estimators and raises `BrokenPromise` when the estimator breaks the promise. One
that cannot keep a promise declares that beside its class, with the reason:
``BATTERY_EXCEPTIONS = {"check_one_channel": "compares channels"}``; it then has to refuse, with an error of this
package, instead of breaking it.
"""
# ruff: noqa: D401 - a check states its promise

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bench.estimators import contract
from bench.estimators.contract import Fitted, Labels, Windows
from bench.estimators.fit_estimator import seeded
from bench.estimators.identity import identify
from bench.models.promises import DATASET_SHAPES, SMALL, Outcome, Shape, global_states, require, run_checks

Factory = Callable[[], Any]
"""Makes a fresh, unfitted estimator."""

_PER_CLASS = 10


def run_battery(make: Factory, exceptions: Mapping[str, str]) -> Iterator[Outcome]:
    """Run all checks of an estimator; see `run_checks`."""
    return run_checks(CHECKS, make, exceptions)


def check_methods(make: Factory) -> None:
    """It has ``fit``, ``predict_proba`` or ``decision_function``, ``get_params`` and ``set_params``."""
    contract.require_estimator(make())


def check_logits(make: Factory) -> None:
    """It gives finite logits ``(n_windows, n_classes)``."""
    _check_shape(make, SMALL)


def check_dataset_shapes(make: Factory) -> None:
    """The same at the shapes of all six datasets."""
    for shape in DATASET_SHAPES.values():
        _check_shape(make, shape)


def check_two_classes(make: Factory) -> None:
    """There may be two classes."""
    _check_shape(make, replace(SMALL, n_classes=2))


def check_five_classes(make: Factory) -> None:
    """There may be five classes."""
    _check_shape(make, replace(SMALL, n_classes=5))


def check_one_channel(make: Factory) -> None:
    """Windows may have a single channel."""
    _check_shape(make, replace(SMALL, n_channels=1))


def check_odd_length(make: Factory) -> None:
    """Windows may have an odd number of steps."""
    _check_shape(make, replace(SMALL, n_times=61))


def check_short_windows(make: Factory) -> None:
    """Windows may be short."""
    _check_shape(make, replace(SMALL, n_times=26))


def check_flat_channel(make: Factory) -> None:
    """A channel may be constant, as a loose electrode is."""
    windows, labels = _task(SMALL)
    windows[:, 1] = 0.0
    _require_logits(_fitted(make, windows, labels).logits(windows), len(windows), SMALL)


def check_missing_class(make: Factory) -> None:
    """A class may have no training window; it is then the least likely."""
    windows, labels = _task(SMALL)
    seen = labels != 1
    logits = _fitted(make, windows[seen], labels[seen]).logits(windows)
    _require_logits(logits, len(windows), SMALL)
    require(
        bool((logits[:, 1] <= logits.min(axis=1)).all()),
        "a class that was never seen is not the least likely",
    )


def check_one_window(make: Factory) -> None:
    """A single window can be classified."""
    windows, labels = _task(SMALL)
    _require_logits(_fitted(make, windows, labels).logits(windows[:1]), 1, SMALL)


def check_windows_are_independent(make: Factory) -> None:
    """The logits of a window do not depend on the others that are classified with it."""
    windows, labels = _task(SMALL)
    fitted = _fitted(make, windows, labels)
    together = fitted.logits(windows)
    alone = np.concatenate([fitted.logits(window[None]) for window in windows])
    _require_close(together, alone, 1e-3, "logits of windows together and alone")


def check_same_seed_same_logits(make: Factory) -> None:
    """Two estimators fitted with the same seed give the same logits."""
    windows, labels = _task(SMALL)
    first, second = (_fitted(make, windows, labels).logits(windows) for _ in range(2))
    _require_close(first, second, 1e-6, "logits after two fits with one random_state")


def check_repeatable_logits(make: Factory) -> None:
    """A fitted estimator gives the same logits again."""
    windows, labels = _task(SMALL)
    fitted = _fitted(make, windows, labels)
    _require_close(fitted.logits(windows), fitted.logits(windows), 1e-6, "logits asked for twice")


def check_global_randomness_is_left_alone(make: Factory) -> None:
    """Neither fitting nor classifying draws from a global generator: NumPy's, Python's or torch's."""
    windows, labels = _task(SMALL)
    before = global_states()
    _fitted(make, windows, labels).logits(windows)
    for name, state in global_states().items():
        require(
            state == before.get(name, state),
            f"it draws from the global generator of {name}; take random_state",
        )


def check_fitting_again_starts_afresh(make: Factory) -> None:
    """A second ``fit`` forgets the first."""
    windows, labels = _task(SMALL)
    other_windows, other_labels = _task(SMALL, seed=1)
    used = _fitted(make, other_windows, other_labels).estimator
    again = contract.fit(used, windows, labels, SMALL.n_classes).logits(windows)
    _require_close(
        again, _fitted(make, windows, labels).logits(windows), 1e-6, "logits after another fit and afresh"
    )


def check_input_is_kept(make: Factory) -> None:
    """Windows and labels are not changed in place."""
    windows, labels = _task(SMALL)
    kept_windows, kept_labels = windows.copy(), labels.copy()
    _fitted(make, windows, labels).logits(windows)
    require(np.array_equal(windows, kept_windows), "windows are changed in place")
    require(np.array_equal(labels, kept_labels), "labels are changed in place")


def check_parameters_are_told(make: Factory) -> None:
    """Its parameters can be told in a cell's key, and fitting leaves them as they are."""
    estimator = make()
    before = identify(estimator)
    windows, labels = _task(SMALL)
    contract.fit(estimator, windows, labels, SMALL.n_classes)
    require(identify(estimator) == before, "fit changes the constructor's parameters")


def check_clone(make: Factory) -> None:
    """A copy made from the parameters of a fitted estimator is unfitted and gives the same logits once it is fitted."""
    windows, labels = _task(SMALL)
    fitted = _fitted(make, windows, labels)
    copied = contract.fit(clone(fitted.estimator), windows, labels, SMALL.n_classes)
    _require_close(
        fitted.logits(windows), copied.logits(windows), 1e-6, "logits of an estimator and of its clone"
    )


CHECKS: tuple[Callable[[Factory], None], ...] = (
    check_methods,
    check_logits,
    check_dataset_shapes,
    check_two_classes,
    check_five_classes,
    check_one_channel,
    check_odd_length,
    check_short_windows,
    check_flat_channel,
    check_missing_class,
    check_one_window,
    check_windows_are_independent,
    check_same_seed_same_logits,
    check_repeatable_logits,
    check_global_randomness_is_left_alone,
    check_fitting_again_starts_afresh,
    check_input_is_kept,
    check_parameters_are_told,
    check_clone,
)


def _check_shape(make: Factory, shape: Shape) -> None:
    windows, labels = _task(shape)
    unseen, _ = _task(shape, seed=1)
    _require_logits(_fitted(make, windows, labels, shape).logits(unseen), len(unseen), shape)


def _task(shape: Shape, seed: int = 0) -> tuple[Windows, Labels]:
    """Return noisy windows of balanced classes, each with its own frequency."""
    generator = np.random.default_rng(seed)
    labels = np.arange(_PER_CLASS * shape.n_classes) % shape.n_classes
    cycles = (2 + 2 * labels)[:, None, None] * np.arange(shape.n_times) / shape.n_times
    noise = generator.normal(size=(len(labels), shape.n_channels, shape.n_times))
    return (np.sin(2 * np.pi * cycles) + noise).astype(np.float32), labels


def _fitted(make: Factory, windows: Windows, labels: Labels, shape: Shape = SMALL) -> Fitted:
    estimator = make()
    contract.require_estimator(estimator)
    return contract.fit(seeded(estimator, 0), windows, labels, shape.n_classes)


def _require_logits(logits: NDArray[np.float32], n_windows: int, shape: Shape) -> None:
    expected = (n_windows, shape.n_classes)
    require(logits.shape == expected, f"logits are {logits.shape}, expected {expected}")
    require(bool(np.isfinite(logits).all()), f"logits of {shape} are not finite")


def _require_close(
    actual: NDArray[np.float32], expected: NDArray[np.float32], tolerance: float, what: str
) -> None:
    difference = float(np.abs(actual - expected).max())
    require(difference <= tolerance, f"{what} differ by {difference:.2e}")
