"""Tests of two models by their scores over seeds on one test part, with the smallest p that so few seeds can give.

They test whether other seeds would rank the two models alike on these subjects, and nothing about other subjects: what
subjects can show is limited by `smallest_paired_p` of their number, however many seeds there are.

Sources: Welch, Biometrika 1947; Wilcoxon, Biometrics Bulletin 1945 (rank sum, signed ranks); Fisher, The design of
experiments, 1935, and Pitman 1937 (permutation).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from bench.errors import RecordError
from bench.stats.estimate import mean_over_seeds
from bench.stats.unknowable import FewSeedsError

Floats = NDArray[np.float64]

MOST_ARRANGEMENTS = 200_000
"""The most splits or signs that are enumerated: ten seeds against ten have 184,756."""


@dataclass(frozen=True)
class SeedTest:
    """A two-sided p, and the smallest that the test can give with this number of seeds; 0 if there is no such limit."""

    p: float
    smallest_p: float


def welch(first: Sequence[float], second: Sequence[float]) -> SeedTest:
    """Test equal means by Welch's t: deviations over seeds may differ, scores are assumed normal.

    Raises
    ------
    FewSeedsError
        If a model has one seed.
    """
    from scipy import stats

    difference = mean_over_seeds(np.asarray(first)).minus(mean_over_seeds(np.asarray(second)))
    error = difference.standard_error
    if not error:
        return SeedTest(float(difference.value == 0), 0.0)
    return SeedTest(float(2 * stats.t.sf(abs(difference.value) / error, difference.df)), 0.0)


def permutation(first: Sequence[float], second: Sequence[float]) -> SeedTest:
    """Test that both models draw from one distribution, by the difference of means over all splits of the scores.

    Raises
    ------
    FewSeedsError
        If a model has no seed.
    RecordError
        If there are too many splits to go through.
    """
    return _over_splits(np.asarray(first, dtype=float), np.asarray(second, dtype=float))


def rank_sum(first: Sequence[float], second: Sequence[float]) -> SeedTest:
    """Test the same by the sum of ranks, unpaired; ties share their ranks.

    Raises
    ------
    FewSeedsError
        If a model has no seed.
    RecordError
        If there are too many splits to go through.
    """
    from scipy import stats

    ranks = stats.rankdata(np.concatenate([first, second]))
    return _over_splits(ranks[: len(first)], ranks[len(first) :])


def signed_rank(differences: Sequence[float]) -> SeedTest:
    """Test that differences paired by seed lie around zero, by their signed ranks; zeros are left out.

    Valid if a seed draws the split, so that equal seeds belong together.

    Raises
    ------
    FewSeedsError
        If there is no difference.
    RecordError
        If there are too many signs to go through.
    """
    from scipy import stats

    if not len(differences):
        raise FewSeedsError(0)
    found = np.asarray(differences, dtype=float)
    found = found[found != 0]
    smallest = smallest_paired_p(len(differences))
    if not len(found):
        return SeedTest(1.0, smallest)
    _require_few(2 ** len(found), "signed ranks", len(found))
    signed = stats.rankdata(np.abs(found)) * np.sign(found)
    exact = stats.permutation_test(
        (signed,),
        lambda ranks, axis: ranks.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=MOST_ARRANGEMENTS,
    )
    return SeedTest(float(exact.pvalue), smallest)


def smallest_rank_sum_p(n_first: int, n_second: int) -> float:
    """Return the smallest two-sided p of any unpaired test by ranks or permutation: 0.0079 for five against five."""
    return min(1.0, 2 / comb(n_first + n_second, n_first))


def smallest_paired_p(n_pairs: int) -> float:
    """Return the smallest two-sided p of any test by signs or signed ranks: 0.0625 for five pairs, 0.125 for four.

    Pairs are seeds in `signed_rank`. For a test over subjects they are the test subjects: of four, no two models can
    be told apart at 0.05 by it, whatever their scores.
    """
    return min(1.0, 2.0 ** (1 - n_pairs))


def _over_splits(first: Floats, second: Floats) -> SeedTest:
    from scipy import stats

    if not (len(first) and len(second)):
        raise FewSeedsError(0)
    n_splits = comb(len(first) + len(second), len(first))
    _require_few(n_splits, "splits of the scores", len(first) + len(second))
    found = stats.permutation_test(
        (first, second),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        vectorized=True,
        n_resamples=n_splits,
    )
    return SeedTest(float(found.pvalue), smallest_rank_sum_p(len(first), len(second)))


def _require_few(n_arrangements: int, what: str, n_scores: int) -> None:
    if n_arrangements > MOST_ARRANGEMENTS:
        raise RecordError(
            f"exact test: {n_arrangements} {what} of {n_scores} scores, at most {MOST_ARRANGEMENTS} are gone through; "
            "use Welch's test for so many seeds"
        )
