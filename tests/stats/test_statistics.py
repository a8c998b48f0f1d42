"""Ranks, tests and summaries against published examples, hand-made ones and scikit-posthocs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from bench.errors import RecordError
from bench.stats import statistics

# Demsar 2006, table 6: AUC of four variants of a tree learner on fourteen datasets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],  # printed as equal, but ranked in this order
        [0.957, 0.978, 0.946, 0.970],
    ]
)
SCORES = arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(3, 8)), elements=st.integers(0, 9))


def distinct_scores(n_datasets: int, n_models: int) -> np.ndarray:
    return np.random.default_rng(7).permuted(
        np.tile(np.arange(n_models, dtype=float), (n_datasets, 1)), axis=1
    )


def test_average_ranks_of_demsars_example() -> None:
    np.testing.assert_allclose(statistics.average_ranks(DEMSAR), [3.143, 2.000, 2.893, 1.964], atol=5e-4)


@settings(deadline=None)
@given(SCORES)
def test_average_ranks_sum_to_that_of_a_permutation(scores: np.ndarray) -> None:
    n_models = scores.shape[1]
    assert statistics.average_ranks(scores).sum() == pytest.approx(n_models * (n_models + 1) / 2)


def test_best_model_has_rank_one() -> None:
    np.testing.assert_array_equal(statistics.average_ranks(np.array([[0.1, 0.9, 0.5]])), [3, 1, 2])


def test_ranks_of_a_partial_grid_are_refused() -> None:
    with pytest.raises(RecordError, match="1 of 6 scores are missing"):
        statistics.average_ranks(np.array([[1, 2, np.nan], [1, 2, 3]]))


def test_friedman_without_ties_is_demsars_formula() -> None:
    scores = distinct_scores(6, 5)
    n, k = scores.shape
    ranks = statistics.average_ranks(scores)
    chi2 = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    found = statistics.friedman(scores)
    assert found.chi2 == pytest.approx(chi2)
    assert found.f == pytest.approx((n - 1) * chi2 / (n * (k - 1) - chi2))


@settings(deadline=None)
@given(SCORES)
def test_friedman_with_ties_is_scipys(scores: np.ndarray) -> None:
    if (scores == scores[:, :1]).all():
        return
    found = statistics.friedman(scores)
    expected = stats.friedmanchisquare(*scores.T)
    assert found.chi2 == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p_chi2 == pytest.approx(expected.pvalue, abs=1e-9)


def test_friedman_of_demsars_example() -> None:
    # Printed: chi2 = 9.28, F = 3.69, not corrected for ties; the correction divides chi2 by 1 - T / (N (k^3 - k)):
    # T = 60 for the dataset with four equal scores, 6 for each of the three with a pair.
    corrected = 9.28 / (1 - (60 + 3 * 6) / (14 * 60))
    found = statistics.friedman(DEMSAR)
    assert found.chi2 == pytest.approx(corrected, rel=1e-3)
    assert found.f == pytest.approx(13 * corrected / (14 * 3 - corrected), rel=1e-3)


def test_friedman_of_equal_models_finds_nothing() -> None:
    found = statistics.friedman(np.ones((6, 4)))
    assert (found.chi2, found.f, found.p) == (0, 0, 1)


def test_friedman_of_one_order_everywhere_is_infinite() -> None:
    found = statistics.friedman(np.tile([1.0, 2.0, 3.0], (6, 1)))
    assert (found.f, found.p) == (np.inf, 0)


@pytest.mark.parametrize("shape", [(1, 5), (6, 2)])
def test_friedman_of_too_little_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(RecordError, match="needs at least 2 and 3"):
        statistics.friedman(np.ones(shape))


@pytest.mark.parametrize(
    ("n_models", "alpha", "q"),
    [(2, 0.05, 1.960), (5, 0.05, 2.728), (10, 0.05, 3.164), (3, 0.10, 2.052), (8, 0.10, 2.780)],
)
def test_critical_difference_uses_the_quantiles_of_the_literature(
    n_models: int, alpha: float, q: float
) -> None:
    found = statistics.nemenyi_critical_difference(n_models, 14, alpha)
    assert found == pytest.approx(q * np.sqrt(n_models * (n_models + 1) / (6 * 14)), rel=3e-4)


def test_critical_difference_of_twelve_models_on_six_datasets() -> None:
    assert statistics.nemenyi_critical_difference(12, 6) == pytest.approx(6.80, abs=0.005)


def test_critical_difference_agrees_with_scikit_posthocs() -> None:
    posthocs = pytest.importorskip("scikit_posthocs", reason="the test dependency scikit-posthocs is missing")
    scores = distinct_scores(6, 5)
    ranks = statistics.average_ranks(scores)
    p = posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    first, second = 0, int(np.argmax(abs(ranks - ranks[0])))
    needed = statistics.nemenyi_critical_difference(5, 6, alpha=float(p[first, second]))
    assert abs(ranks[first] - ranks[second]) == pytest.approx(needed, rel=1e-4)


@pytest.mark.parametrize(
    ("ranks", "difference", "groups"),
    [
        ([1, 2, 3, 4], 1.5, [(0, 1), (1, 2), (2, 3)]),
        ([1, 2, 3, 4], 2.0, [(0, 1, 2), (1, 2, 3)]),
        ([1, 2, 3, 4], 0.5, []),
        ([4, 1, 1.2], 1.0, [(1, 2)]),
        ([2, 1, 3], 9.0, [(1, 0, 2)]),
    ],
)
def test_indistinct_groups(ranks: list[float], difference: float, groups: list[tuple[int, ...]]) -> None:
    assert statistics.indistinct_groups(np.array(ranks, dtype=float), difference) == groups


@settings(deadline=None)
@given(arrays(np.float64, st.integers(1, 12), elements=st.integers(1, 12)), st.floats(0, 12))
def test_groups_are_within_one_difference_and_maximal(ranks: np.ndarray, difference: float) -> None:
    groups = [set(group) for group in statistics.indistinct_groups(ranks, difference)]
    assert all(ranks[list(group)].max() - ranks[list(group)].min() <= difference for group in groups)
    assert not any(one < other for one in groups for other in groups)
    close = {(i, j) for i in range(len(ranks)) for j in range(i) if abs(ranks[i] - ranks[j]) < difference}
    assert all(any({i, j} <= group for group in groups) for i, j in close)


def test_win_tie_loss_counts_datasets() -> None:
    first, second = np.array([0.9, 0.8, 0.7, 0.5]), np.array([0.8, 0.8, 0.75, 0.9])
    assert statistics.win_tie_loss(first, second) == (1, 1, 2)
    assert statistics.win_tie_loss(first, second, margin=0.06) == (1, 2, 1)


def test_win_tie_loss_over_a_missing_cell_is_refused() -> None:
    with pytest.raises(RecordError, match="win/tie/loss: 1 of 2 scores are missing"):
        statistics.win_tie_loss(np.array([np.nan, 1]), np.array([1, 1]))


@pytest.mark.parametrize("n_pairs", [5, 6])
def test_smallest_signed_rank_p_is_scipys(n_pairs: int) -> None:
    one_way = np.arange(1, n_pairs + 1, dtype=float)
    _, p = stats.wilcoxon(one_way, method="exact")
    assert statistics.smallest_signed_rank_p(n_pairs) == p


def test_six_datasets_can_never_reject_over_eleven_rivals() -> None:
    assert statistics.smallest_signed_rank_p(6, n_comparisons=11) == pytest.approx(0.34375)
    assert statistics.smallest_signed_rank_p(2, n_comparisons=11) == 1


def test_probability_of_improvement_by_hand() -> None:
    # Dataset 1: 3 > 1, 3 > 2, 2 > 1, 2 = 2: 3.5 of 4. Dataset 2: never.
    first, second = np.array([[3.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 5.0], [2.0, 6.0]])
    assert statistics.probability_of_improvement(first, second) == pytest.approx((3.5 / 4 + 0) / 2)


@settings(deadline=None)
@given(
    arrays(np.float64, (3, 4), elements=st.integers(0, 5)),
    arrays(np.float64, (2, 4), elements=st.integers(0, 5)),
)
def test_probabilities_of_both_directions_sum_to_one(first: np.ndarray, second: np.ndarray) -> None:
    both = [statistics.probability_of_improvement(*pair) for pair in ((first, second), (second, first))]
    assert sum(both) == pytest.approx(1)


def test_interquartile_mean_by_hand() -> None:
    scores = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 800.0]])
    assert statistics.interquartile_mean(scores) == 4.5


def test_interquartile_mean_of_a_missing_run_is_refused() -> None:
    with pytest.raises(RecordError, match="interquartile mean: 1 of 3 scores are missing"):
        statistics.interquartile_mean(np.array([[1, 2, np.nan]]))
