"""Percentile intervals by resampling seeds within datasets; draws and confusions of whole test subjects.

Sources: Davison and Hinkley, Bootstrap methods and their application, 1997 (percentile intervals, resampling
of whole clusters); Agarwal et al., Deep reinforcement learning at the edge of the statistical precipice,
NeurIPS 2021 (bootstrap over runs, stratified by task). Every draw comes from a generator that is passed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

FEW_UNITS = 10
"""Below this many test subjects an interval is flagged as too narrow to rely on."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """An estimate with its percentile bootstrap interval; `n_units` is the smallest number of resampled seeds."""

    estimate: float
    low: float
    high: float
    level: float
    n_units: int
    n_resamples: int


def draw_subjects(n_subjects: int, rng: np.random.Generator, n_resamples: int = 2000) -> Floats:
    """Return how often each subject is drawn, with replacement, in each draw: (n_resamples, n_subjects)."""
    # Counting drawn numbers gives the multinomial distribution several times faster.
    draws = rng.integers(n_subjects, size=(n_resamples, n_subjects))
    return np.stack([np.bincount(draw, minlength=n_subjects) for draw in draws]).astype(float)


def confusion_by_subject(
    labels: NDArray[np.integer], predicted: NDArray[np.integer], subjects: NDArray, n_classes: int
) -> Floats:
    """Return the confusion matrix of each subject (rows true, columns predicted).

    Shapes: labels and subjects (n_windows,), predicted (n_windows,) or (n_seeds, n_windows); the result is
    (n_seeds, n_subjects, n_classes, n_classes), the subjects in sorted order.
    """
    names, codes = np.unique(subjects, return_inverse=True)
    cells = (codes * n_classes + labels) * n_classes + np.atleast_2d(predicted)
    size = len(names) * n_classes * n_classes
    counts = [np.bincount(seed, minlength=size) for seed in cells]
    return np.array(counts, dtype=float).reshape(-1, len(names), n_classes, n_classes)


def _accuracy(confusion: Floats) -> Floats:
    return _ratio(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))


def _precision(confusion: Floats) -> Floats:
    return _macro(_diagonal(confusion), confusion.sum(axis=-2), confusion)


def _recall(confusion: Floats) -> Floats:
    return _macro(_diagonal(confusion), confusion.sum(axis=-1), confusion)


def _f1(confusion: Floats) -> Floats:
    return _macro(2 * _diagonal(confusion), confusion.sum(axis=-1) + confusion.sum(axis=-2), confusion)


CONFUSION_SCORES: dict[str, Callable[[Floats], Floats]] = {
    "accuracy": _accuracy,
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
}
"""Scores of confusion matrices (..., n_classes, n_classes); macro means run over the classes with true windows."""


def stratified_bootstrap(
    statistic: Callable[..., Floats],
    runs: Sequence[Floats],
    rng: np.random.Generator,
    n_resamples: int = 2000,
    level: float = 0.95,
) -> Interval:
    """Return a statistic of runs with an interval over seeds, drawn anew within each dataset.

    `runs` holds one (n_seeds, n_datasets) array per model; `statistic` takes as many, each (..., n_seeds, n_datasets),
    and returns (...). Five seeds have only 126 different draws per dataset. `n_units` is the smallest number of seeds.
    """
    arrays = [np.asarray(run, dtype=float) for run in runs]
    rows = [rng.integers(len(run), size=(n_resamples, *run.shape)) for run in arrays]
    drawn = (np.take_along_axis(run[None], row, axis=1) for run, row in zip(arrays, rows, strict=True))
    return _percentile_interval(float(statistic(*arrays)), statistic(*drawn), level, min(map(len, arrays)))


def distinct_draws(n_units: int) -> int:
    """Return how many different bootstrap samples of n units there are: C(2n - 1, n)."""
    return comb(2 * n_units - 1, n_units)


def _percentile_interval(estimate: float, values: Floats, level: float, n_units: int) -> Interval:
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail]) if values.size else (np.nan, np.nan)
    return Interval(estimate, float(low), float(high), level, n_units, values.size)


def _diagonal(confusion: Floats) -> Floats:
    return np.diagonal(confusion, axis1=-2, axis2=-1)


def _macro(numerator: Floats, denominator: Floats, confusion: Floats) -> Floats:
    """Return the mean over classes with true windows; 0 where the class's denominator is 0."""
    present = confusion.sum(axis=-1) > 0
    return _ratio((_ratio(numerator, denominator) * present).sum(axis=-1), present.sum(axis=-1))


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with 0 where the denominator is 0."""
    return np.divide(
        numerator, denominator, out=np.zeros(np.shape(denominator)), where=np.asarray(denominator) > 0
    )
