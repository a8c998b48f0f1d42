"""One-vs-rest AUROC under weights of windows, and its paired difference with an interval over test subjects.

Source: Hanley and McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, 1982:
the probability that a window of the class is ranked above one that is not, ties counted as half.
"""

import numpy as np
from numpy.typing import NDArray

from bench.results.bootstrap import Interval

Floats = NDArray[np.float64]

_DRAWS_AT_ONCE = 50


def weighted_auroc(scores: Floats, truth: NDArray[np.bool_], weights: Floats) -> Floats:
    """Return the AUROC of windows that count as often as their weights say.

    Parameters
    ----------
    scores, truth
        ``(n_windows,)``: the class's score, and whether the window is of the class.
    weights
        ``(n_draws, n_windows)``, not negative.

    Returns
    -------
    NDArray[np.float64]
        ``(n_draws,)``; NaN for a draw without windows of the class, or without others.
    """
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(scores[order]) > 0])
    sorted_weights, is_class = weights[:, order], truth[order]
    positive = np.add.reduceat(sorted_weights * is_class, starts, axis=1)
    negative = np.add.reduceat(sorted_weights * ~is_class, starts, axis=1)
    below = np.cumsum(negative, axis=1) - negative
    ranked = np.sum(positive * (below + negative / 2), axis=1)
    pairs = positive.sum(axis=1) * negative.sum(axis=1)
    return np.divide(ranked, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


def macro_auroc(probability: Floats, labels: NDArray[np.integer], weights: Floats) -> Floats:
    """Return the mean AUROC ``(n_draws,)`` over the classes that windows are of.

    ``probability`` is ``(n_windows, n_classes)``; a draw that lacks a class altogether gives NaN.
    """
    present = np.unique(labels)
    of_classes = [weighted_auroc(probability[:, one], labels == one, weights) for one in present]
    return np.mean(of_classes, axis=0)


def paired_auroc_difference(
    labels: NDArray[np.integer],
    subjects: NDArray,
    first: Floats,
    second: Floats,
    rng: np.random.Generator,
    n_resamples: int = 600,
) -> Interval:
    """Return macro AUROC(first) - AUROC(second), averaged over seeds, with a 95 percent interval over subjects.

    Parameters
    ----------
    labels, subjects
        ``(n_windows,)``.
    first, second
        Probabilities ``(n_seeds, n_windows, n_classes)`` of two models on the same windows.
    rng
        Source of the draws: subjects with replacement, each with all its windows. Draws that lack a class are left
        out of the interval and of its ``n_resamples``.
    n_resamples
        Number of draws.
    """
    names, codes = np.unique(subjects, return_inverse=True)
    counts = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=n_resamples)

    def difference(weights: Floats) -> Floats:
        scores = [
            np.mean([macro_auroc(one, labels, weights) for one in model], axis=0) for model in (first, second)
        ]
        return scores[0] - scores[1]

    estimate = float(difference(np.ones((1, len(labels))))[0])
    parts = [
        difference(counts[start : start + _DRAWS_AT_ONCE, codes].astype(np.float64))
        for start in range(0, n_resamples, _DRAWS_AT_ONCE)
    ]
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    low, high = np.quantile(values, [0.025, 0.975]) if values.size else (np.nan, np.nan)
    return Interval(estimate, float(low), float(high), 0.95, len(names), values.size)
