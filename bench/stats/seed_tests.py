"""Tests of two models by their scores over seeds on one test part, and the smallest p that so few scores can give.

They test whether other seeds would rank the two models alike on these subjects, and nothing about other subjects: what
subjects can show is limited by `smallest_paired_p` of their number, however many seeds there are.

Sources: Welch, Biometrika 1947; Fisher, The design of experiments, 1935, and Pitman 1937 (permutation).
"""

from collections.abc import Sequence
from math import comb

import numpy as np

from bench.errors import RecordError
from bench.stats.estimate import mean_over_seeds
from bench.stats.unknowable import FewSeedsError

MOST_SPLITS = 200_000
"""The most splits that are gone through: ten seeds against ten have 184,756."""


def welch(first: Sequence[float], second: Sequence[float]) -> float:
    """Return p of equal means by Welch's t: deviations over seeds may differ, scores are assumed normal.

    Raises
    ------
    FewSeedsError
        If a model has one seed.
    """
    from scipy import stats

    difference = mean_over_seeds(np.asarray(first)).minus(mean_over_seeds(np.asarray(second)))
    error = difference.standard_error
    if not error:
        return float(difference.value == 0)
    return float(2 * stats.t.sf(abs(difference.value) / error, difference.df))


def permutation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return p of one distribution for both models, by the difference of means over all splits of the scores.

    Raises
    ------
    FewSeedsError
        If a model has one seed.
    RecordError
        If there are too many splits to go through.
    """
    from scipy import stats

    if min(len(first), len(second)) < 2:
        raise FewSeedsError(min(len(first), len(second)))
    n_splits = comb(len(first) + len(second), len(first))
    if n_splits > MOST_SPLITS:
        raise RecordError(
            f"exact test: {n_splits} splits of {len(first) + len(second)} scores, at most {MOST_SPLITS} are gone "
            "through; use Welch's test for so many seeds"
        )
    found = stats.permutation_test(
        (np.asarray(first, dtype=float), np.asarray(second, dtype=float)),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        vectorized=True,
        n_resamples=n_splits,
    )
    return float(found.pvalue)


def smallest_permutation_p(n_first: int, n_second: int) -> float:
    """Return the smallest two-sided p of any unpaired test by permutation or ranks: 0.0079 for five against five."""
    return min(1.0, 2 / comb(n_first + n_second, n_first))


def smallest_paired_p(n_pairs: int) -> float:
    """Return the smallest two-sided p of any test by signs or signed ranks: 0.0625 for five pairs, 0.125 for four.

    Of four test subjects no two models can be told apart at 0.05 by it, whatever their scores.
    """
    return min(1.0, 2.0 ** (1 - n_pairs))
