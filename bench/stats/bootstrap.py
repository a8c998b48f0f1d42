"""Percentile intervals by resampling whole test subjects, or seeds within datasets.

Sources: Davison and Hinkley, Bootstrap methods and their application, 1997 (percentile intervals, resampling
of whole clusters); Agarwal et al., Deep reinforcement learning at the edge of the statistical precipice,
NeurIPS 2021 (bootstrap over runs, stratified by task). Every draw comes from a generator that is passed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from bench.errors import RecordError, unknown_name

FEW_UNITS = 10
"""Below this many test subjects or seeds an interval is flagged as too narrow to rely on."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """An estimate with its percentile bootstrap interval.

    `n_units` is the number of resampled units: test subjects, or runs.
    """

    estimate: float
    low: float
    high: float
    level: float
    n_units: int
    n_resamples: int

    @property
    def few_units(self) -> bool:
        """Whether so few units were resampled that the interval is too narrow to be relied on."""
        return self.n_units < FEW_UNITS

    @property
    def excludes_zero(self) -> bool:
        """Whether zero lies outside the interval."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True)
class PairedPredictions:
    """Predicted classes of two models on the same test windows, for one or more seeds.

    Attributes
    ----------
    labels
        True class of each window, shape (n_windows,), integers from 0.
    subjects
        The subject of each window, shape (n_windows,), names or numbers.
    first, second
        Predicted class, shape (n_seeds, n_windows); the numbers of seeds may differ.
    """

    labels: NDArray[np.integer]
    subjects: NDArray
    first: NDArray[np.integer]
    second: NDArray[np.integer]

    def __post_init__(self) -> None:
        """Refuse predictions whose windows cannot be the same.

        Raises
        ------
        RecordError
            If the shapes disagree or there is no window.
        """
        n_windows = len(self.labels)
        for name in ("subjects", "first", "second"):
            found = getattr(self, name).shape[-1]
            if found != n_windows or n_windows == 0:
                raise RecordError(
                    f"paired predictions: '{name}' has {found} windows and 'labels' has {n_windows}; "
                    "compare two models on the same test windows, at least one"
                )


def paired_difference(
    pair: PairedPredictions,
    metric: str,
    draws: Floats,
    level: float = 0.95,
) -> Interval:
    """Return score(first) - score(second), averaged over seeds, with an interval over test subjects.

    Subjects are drawn with all their windows, the same for both models. A draw is a vector of counts w_s, with
    which the confusion matrix is sum_s w_s C_s, C_s being the subject's own. Seeds are averaged, not resampled: the
    interval covers the choice of subjects, not of seeds. With n subjects there are only C(2n - 1, n) different draws
    (35 for four).

    Parameters
    ----------
    pair
        The predictions.
    metric
        A key of `CONFUSION_SCORES`: accuracy, precision, recall or f1.
    draws
        What `draw_subjects` returns.
    level
        Mass inside the interval.

    Raises
    ------
    UsageError
        If the metric is none of these.
    """
    n_classes = int(max(pair.labels.max(), pair.first.max(), pair.second.max())) + 1
    first, second = (
        draw_confusions(confusion_by_subject(pair.labels, predicted, pair.subjects, n_classes), draws)
        for predicted in (pair.first, pair.second)
    )
    return difference_interval(first, second, metric, level)


@dataclass(frozen=True)
class DrawnConfusions:
    """Confusion matrices of one model.

    Attributes
    ----------
    whole
        Matrices over all test subjects, (n_seeds, n_classes, n_classes).
    drawn
        Matrices over each draw of subjects, (n_draws, n_seeds, n_classes, n_classes).
    n_subjects
        Number of test subjects.
    """

    whole: Floats
    drawn: Floats
    n_subjects: int

    def scores(self, metric: str) -> tuple[float, Floats]:
        """Return a score of `CONFUSION_SCORES`, averaged over seeds, of all subjects and of each draw, (n_draws,)."""
        score = _score_named(metric)
        return float(score(self.whole).mean()), score(self.drawn).mean(axis=-1)


def draw_confusions(by_subject: Floats, draws: Floats) -> DrawnConfusions:
    """Return the confusion matrices of draws of subjects.

    Parameters
    ----------
    by_subject
        What `confusion_by_subject` returns, (n_seeds, n_subjects, n_classes, n_classes).
    draws
        The result of `draw_subjects`, (n_draws, n_subjects).
    """
    drawn = np.tensordot(draws, by_subject, axes=(-1, 1))
    return DrawnConfusions(by_subject.sum(axis=1), drawn, by_subject.shape[1])


def score_interval(model: DrawnConfusions, metric: str, level: float = 0.95) -> Interval:
    """Return a model's score, averaged over seeds, with an interval over test subjects.

    Raises
    ------
    UsageError
        If the metric is no score of predicted classes.
    """
    return _percentile_interval(*model.scores(metric), level, model.n_subjects)


def difference_interval(
    first: DrawnConfusions, second: DrawnConfusions, metric: str, level: float = 0.95
) -> Interval:
    """Return score(first) - score(second) with an interval, both on the same draws of the same windows' subjects.

    Raises
    ------
    UsageError
        If the metric is no score of predicted classes.
    """
    (mine, my_draws), (other, other_draws) = first.scores(metric), second.scores(metric)
    return _percentile_interval(mine - other, my_draws - other_draws, level, first.n_subjects)


def _score_named(metric: str) -> Callable[[Floats], Floats]:
    if metric not in CONFUSION_SCORES:
        raise unknown_name("score of predicted classes", metric, CONFUSION_SCORES)
    return CONFUSION_SCORES[metric]


def draw_subjects(n_subjects: int, rng: np.random.Generator, n_resamples: int = 2000) -> Floats:
    """Return how often each subject is drawn, with replacement, in each draw: (n_resamples, n_subjects)."""
    # Counting drawn numbers gives the multinomial distribution several times faster.
    draws = rng.integers(n_subjects, size=(n_resamples, n_subjects))
    return np.stack([np.bincount(draw, minlength=n_subjects) for draw in draws]).astype(float)


def over_subjects(statistic: Callable[[Floats], Floats], draws: Floats, level: float = 0.95) -> Interval:
    """Return a statistic of all subjects, with an interval over draws of subjects.

    ``statistic`` takes how often each subject counts, (..., n_subjects), and returns (...). Draws for which it is not
    finite are left out of the interval and of its ``n_resamples``.
    """
    n_subjects = draws.shape[1]
    values = statistic(draws)
    estimate = float(statistic(np.ones(n_subjects)))
    return _percentile_interval(estimate, values[np.isfinite(values)], level, n_subjects)


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
