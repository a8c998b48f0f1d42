"""Ranks, tests and summaries over finished results, as pure functions of arrays of scores.

Sources: Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 2006 (average ranks,
Friedman with the correction of Iman and Davenport 1980, Nemenyi's critical difference); Agarwal et al., Deep
reinforcement learning at the edge of the statistical precipice, NeurIPS 2021 (interquartile mean, probability
of improvement). Intervals are in `bootstrap.py`. Scores are higher-is-better, and complete: a missing one is
refused, never skipped.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bench.errors import RecordError

Floats = NDArray[np.float64]


def average_ranks(scores: Floats) -> Floats:
    """Return the mean rank of each model over datasets, 1 being best; ties share the mean of their ranks.

    `scores` is (n_datasets, n_models) and complete.

    Raises
    ------
    RecordError
        If a score is missing: ranks over different sets of models cannot be averaged.
    """
    return _ranks(scores).mean(axis=0)


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all models rank alike, with Iman and Davenport's F."""

    chi2: float
    p_chi2: float
    f: float
    p: float
    n_datasets: int
    n_models: int


def friedman(scores: Floats) -> Friedman:
    """Return Friedman's test over (n_datasets, n_models) scores.

    chi2 = (k - 1) sum_j (R_j - N (k + 1) / 2)^2 / (sum_ij r_ij^2 - N k (k + 1)^2 / 4) with rank sums R_j, which
    without ties is Demsar's 12 N / (k (k + 1)) [sum_j mean_rank_j^2 - k (k + 1)^2 / 4]; and
    F = (N - 1) chi2 / (N (k - 1) - chi2) with k - 1 and (k - 1)(N - 1) degrees of freedom. F is infinite when
    all datasets rank alike. `p` belongs to F; the p of chi2 is conservative with few datasets.

    Raises
    ------
    RecordError
        If a score is missing, or there are fewer than two datasets or three models.
    """
    from scipy import stats

    ranks = _ranks(scores)
    n, k = ranks.shape
    if n < 2 or k < 3:
        raise RecordError(f"Friedman's test: {n} datasets and {k} models; it needs at least 2 and 3")
    spread = (ranks**2).sum() - n * k * (k + 1) ** 2 / 4
    between = ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()
    chi2 = (k - 1) * between / spread if spread else 0.0
    left = n * (k - 1) - chi2
    f = (n - 1) * chi2 / left if left > 1e-9 else np.inf
    return Friedman(
        chi2=float(chi2),
        p_chi2=float(stats.chi2.sf(chi2, k - 1)),
        f=float(f),
        p=float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        n_datasets=n,
        n_models=k,
    )


def nemenyi_critical_difference(n_models: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the critical difference of two average ranks: CD = q sqrt(k (k + 1) / (6 N)).

    q is the upper alpha quantile of the studentized range of k groups with infinite degrees of freedom,
    divided by the square root of 2 (Demsar 2006, table 5a).
    """
    from scipy import stats

    q = stats.studentized_range.ppf(1 - alpha, n_models, np.inf) / sqrt(2)
    return float(q * sqrt(n_models * (n_models + 1) / (6 * n_datasets)))


def indistinct_groups(ranks: Floats, critical_difference: float) -> list[tuple[int, ...]]:
    """Return the bars of a critical-difference diagram: maximal groups of models within one CD.

    Each group holds the indices of at least two models, best first; no group lies inside another.
    """
    order = np.argsort(ranks, kind="stable")
    groups: list[tuple[int, ...]] = []
    end = 0
    for start, best in enumerate(order):
        reached = int(np.sum(ranks[order] <= ranks[best] + critical_difference))
        if reached > max(end, start + 1):
            groups.append(tuple(int(model) for model in order[start:reached]))
        end = max(end, reached)
    return groups


def win_tie_loss(first: Floats, second: Floats, margin: float = 0.0) -> tuple[int, int, int]:
    """Return on how many datasets the first model is better, within `margin`, and worse (in the scores' unit)."""
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    _refuse_missing(difference, "win/tie/loss")
    wins, losses = int((difference > margin).sum()), int((difference < -margin).sum())
    return wins, difference.size - wins - losses, losses


def smallest_signed_rank_p(n_pairs: int, n_comparisons: int = 1) -> float:
    """Return the smallest p that Wilcoxon's exact two-sided test can give after Holm's correction.

    2 / 2^n for n pairs that all point one way, times the number of comparisons: 0.031 for six datasets, 0.34
    over eleven rivals, 0.0625 for five seeds.
    """
    return min(1.0, n_comparisons * 2.0 ** (1 - n_pairs))


def probability_of_improvement(first: Floats, second: Floats) -> Floats:
    """Return the mean over datasets of P(first > second) + P(equal) / 2, over all pairs of seeds.

    Both are (..., n_seeds, n_datasets), the result is (...); the numbers of seeds may differ (Agarwal et al. 2021,
    appendix A).
    """
    difference = first[..., :, None, :] - second[..., None, :, :]
    _refuse_missing(difference, "probability of improvement")
    return ((np.sign(difference) + 1) / 2).mean(axis=(-3, -2, -1))


def interquartile_mean(scores: Floats) -> Floats:
    """Return the mean of the middle half of all runs, the floor(n / 4) lowest and highest left out.

    Scores are (..., n_seeds, n_datasets), the result is (...).
    """
    from scipy import stats

    _refuse_missing(scores, "interquartile mean")
    return np.asarray(stats.trim_mean(scores.reshape(*scores.shape[:-2], -1), 0.25, axis=-1))


def _ranks(scores: Floats) -> Floats:
    from scipy import stats

    _refuse_missing(scores, "ranks")
    return stats.rankdata(-np.asarray(scores, dtype=float), axis=1)


def _refuse_missing(scores: Floats, purpose: str) -> None:
    n_missing = int(np.isnan(scores).sum())
    if n_missing:
        raise RecordError(
            f"{purpose}: {n_missing} of {np.size(scores)} scores are missing; leave out the models or the "
            "datasets that are not complete"
        )
