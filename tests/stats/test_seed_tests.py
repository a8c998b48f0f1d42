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
def test_welch_is_scipys(scores: list[int]) -> None:
    _, p = stats.ttest_ind(scores[:3], scores[3:], equal_var=False)
    assert seed_tests.welch(scores[:3], scores[3:]) == pytest.approx(p)


def test_permutation_by_hand() -> None:
    # Of the 6 splits of 1, 2, 4, 9 into pairs, the means of 2 differ by 5 or more: {1, 2} and {4, 9}.
    assert seed_tests.permutation([1.0, 2], [4.0, 9]) == pytest.approx(2 / 6)


def test_ties_are_counted_exactly() -> None:
    assert seed_tests.permutation([1.0, 1], [1.0, 1]) == 1


def test_what_five_seeds_can_reach() -> None:
    assert seed_tests.permutation(LOW, HIGH) == pytest.approx(2 / 252)
    assert seed_tests.smallest_permutation_p(5, 5) == pytest.approx(0.0079, abs=1e-4)


@pytest.mark.parametrize(("n_pairs", "smallest"), [(1, 1.0), (4, 0.125), (5, 0.0625), (6, 0.03125)])
def test_limit_of_pairs(n_pairs: int, smallest: float) -> None:
    assert seed_tests.smallest_paired_p(n_pairs) == smallest


@pytest.mark.parametrize(("sizes", "smallest"), [((1, 1), 1.0), ((2, 3), 0.2), ((5, 5), 2 / 252)])
def test_limit_of_splits(sizes: tuple[int, int], smallest: float) -> None:
    assert seed_tests.smallest_permutation_p(*sizes) == pytest.approx(smallest)


@pytest.mark.parametrize(("second", "p"), [([0.5, 0.5], 1.0), ([0.6, 0.6], 0.0)])
def test_scores_that_do_not_vary_are_equal_or_not(second: list[float], p: float) -> None:
    assert seed_tests.welch([0.5, 0.5], second) == p


def test_missing_seeds_are_refused() -> None:
    with pytest.raises(FewSeedsError, match="from 1 seed"):
        seed_tests.welch([0.5], [0.6, 0.7])
    with pytest.raises(FewSeedsError, match="from 1 seed"):
        seed_tests.permutation([0.5, 0.6], [0.7])


def test_too_many_seeds_for_an_exact_test_are_refused() -> None:
    many = [float(seed) for seed in range(11)]
    with pytest.raises(RecordError, match="705432 splits of 22 scores"):
        seed_tests.permutation(many, many)
