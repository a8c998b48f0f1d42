"""Tests over seeds against scipy's own and by hand, and the smallest p of each."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.errors import RecordError
from bench.stats import seed_tests
from bench.stats.unknowable import FewSeedsError

LOW, HIGH = [1.0, 2, 3, 4, 5], [6.0, 7, 8, 9, 10]
distinct = st.lists(st.integers(0, 1000), min_size=8, max_size=8, unique=True)


@settings(max_examples=20, deadline=None)
@given(distinct)
def test_exact_tests_are_scipys_without_ties(scores: list[int]) -> None:
    first, second = scores[:3], scores[3:]
    assert seed_tests.rank_sum(first, second).p == pytest.approx(
        stats.mannwhitneyu(first, second, method="exact").pvalue
    )
    _, p = stats.ttest_ind(first, second, equal_var=False)
    assert seed_tests.welch(first, second).p == pytest.approx(p)


def test_signed_ranks_are_scipys_without_ties() -> None:
    differences = [1.0, -2, 3, 4, -5, 6.5]
    _, p = stats.wilcoxon(differences)
    assert seed_tests.signed_rank(differences).p == pytest.approx(p)


def test_permutation_by_hand() -> None:
    # Of the 6 splits of 1, 2, 4, 9 into pairs, the means of 2 differ by 5 or more: {1, 2} and {4, 9}.
    found = seed_tests.permutation([1.0, 2], [4.0, 9])
    assert (found.p, found.smallest_p) == (pytest.approx(2 / 6), pytest.approx(2 / 6))


def test_what_five_seeds_can_reach() -> None:
    assert seed_tests.rank_sum(LOW, HIGH).p == pytest.approx(2 / 252)
    assert seed_tests.rank_sum(LOW, HIGH).smallest_p == pytest.approx(0.0079, abs=1e-4)
    assert seed_tests.permutation(LOW, HIGH).p == pytest.approx(2 / 252)
    assert seed_tests.signed_rank([1.0, 2, 3, 4, 5]) == seed_tests.SeedTest(0.0625, 0.0625)
    assert seed_tests.welch(LOW, HIGH).smallest_p == 0


@pytest.mark.parametrize(("n_pairs", "smallest"), [(1, 1.0), (4, 0.125), (5, 0.0625), (6, 0.03125)])
def test_limit_of_pairs(n_pairs: int, smallest: float) -> None:
    assert seed_tests.smallest_paired_p(n_pairs) == smallest


@pytest.mark.parametrize(("sizes", "smallest"), [((1, 1), 1.0), ((2, 3), 0.2), ((5, 5), 2 / 252)])
def test_limit_of_splits(sizes: tuple[int, int], smallest: float) -> None:
    assert seed_tests.smallest_rank_sum_p(*sizes) == pytest.approx(smallest)


def test_ties_and_zeros_are_counted_exactly() -> None:
    assert seed_tests.rank_sum([1.0, 1], [1.0, 1]).p == 1
    assert seed_tests.signed_rank([0.0, 0.0]) == seed_tests.SeedTest(1.0, 0.5)
    # Ranks 1.5, 1.5, 3 of one sign: one of four splits of signs each way.
    assert seed_tests.signed_rank([2.0, 2.0, 3.0, 0.0]).p == pytest.approx(0.25)
    # Ranks -1, -2, 3, 4: ten of 16 sums are 4 or more from zero. A zero that took rank 1 would make it twelve.
    assert seed_tests.signed_rank([0.0, -1.0, -2.0, 3.0, 4.0]).p == pytest.approx(10 / 16)


@pytest.mark.parametrize(("second", "p"), [([0.5, 0.5], 1.0), ([0.6, 0.6], 0.0)])
def test_scores_that_do_not_vary_are_equal_or_not(second: list[float], p: float) -> None:
    assert seed_tests.welch([0.5, 0.5], second).p == p


def test_missing_seeds_are_refused() -> None:
    with pytest.raises(FewSeedsError, match="from 1 seed"):
        seed_tests.welch([0.5], [0.6, 0.7])
    with pytest.raises(FewSeedsError, match="from 0 seed"):
        seed_tests.rank_sum([], [0.6, 0.7])
    with pytest.raises(FewSeedsError, match="from 0 seed"):
        seed_tests.signed_rank([])


def test_too_many_seeds_for_an_exact_test_are_refused() -> None:
    many = [float(seed) for seed in range(1, 19)]
    with pytest.raises(RecordError, match="705432 splits of the scores of 22 scores"):
        seed_tests.rank_sum(many[:11], many[:11])
    with pytest.raises(RecordError, match="262144 signed ranks of 18 scores"):
        seed_tests.signed_rank(many)
