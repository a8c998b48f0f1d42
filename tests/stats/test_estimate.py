"""Intervals by hand: t, Satterthwaite's degrees of freedom, differences, and printed deviations."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit

from bench.stats.estimate import Bounds, Estimate, Variance, mean_over_seeds, published_mean
from bench.stats.unknowable import FewSeedsError

scores = st.lists(st.floats(0, 100), min_size=2, max_size=8)


def test_mean_over_seeds_by_hand() -> None:
    found = mean_over_seeds(np.array([1.0, 2, 3, 4, 5]))
    assert (found.value, found.df, found.n_seeds) == (3, pytest.approx(4), 5)
    assert found.standard_error == pytest.approx(sqrt(2.5 / 5))
    assert found.bounds().high == pytest.approx(3 + 2.776445 * sqrt(0.5), abs=1e-5)


def test_sources_add_up_and_degrees_of_freedom_follow_satterthwaite() -> None:
    found = Estimate(0.0, (Variance.of_mean_square(3.0, 4), Variance.of_mean_square(1.0, 10)), 5, 61)
    assert found.standard_error == 2
    assert found.df == pytest.approx(16 / (9 / 4 + 1 / 10))


@pytest.mark.parametrize(
    ("first", "second"), [([1, 2, 4], [2, 2.5, 9, 1]), ([0.5, 0.6], [0.1, 0.9, 0.4, 0.3, 0.2])]
)
def test_difference_is_welchs(first: list[float], second: list[float]) -> None:
    found = mean_over_seeds(np.array(first)).minus(mean_over_seeds(np.array(second)))
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.9)
    bounds = found.bounds(0.9)
    assert (bounds.low, bounds.high) == pytest.approx((expected.low, expected.high))


@given(scores, st.floats(0.01, 1000))
def test_another_unit_scales_the_interval(values: list[float], factor: float) -> None:
    found = mean_over_seeds(np.array(values))
    bounds, scaled = found.bounds(), found.times(factor).bounds()
    assert (scaled.low, scaled.high) == pytest.approx((factor * bounds.low, factor * bounds.high), abs=1e-6)


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.3))
def test_interval_of_a_share_is_symmetric_in_log_odds(share: float, error: float) -> None:
    found = Estimate(share, (Variance.of_mean_square(error**2, 4),), 5)
    bounds = found.share_bounds()
    half = stats.t.isf(0.025, 4) * error / (share * (1 - share))
    assert 0 <= bounds.low <= share <= bounds.high <= 1
    assert (bounds.low, bounds.high) == pytest.approx(tuple(expit(logit(share) + np.array([-half, half]))))


def test_interval_of_a_share_far_from_its_ends_is_the_plain_one() -> None:
    found = Estimate(0.5, (Variance.of_mean_square(1e-6, 4),), 5)
    assert found.share_bounds().low == pytest.approx(found.bounds().low, abs=1e-6)


def test_a_score_that_cannot_be_better_has_an_interval_without_width() -> None:
    assert mean_over_seeds(np.ones(3)).share_bounds().low == 1


def test_what_does_not_vary_has_an_interval_without_width() -> None:
    found = mean_over_seeds(np.array([0.5, 0.5]))
    assert found.df == inf
    assert (found.bounds().low, found.bounds().high) == (0.5, 0.5)


def test_a_source_cut_off_at_zero_takes_no_degrees_of_freedom_but_one() -> None:
    found = Estimate(0.9, (Variance(1e-6, 1e-12), Variance(0.0, 1e-8)), n_seeds=3, n_subjects=4)
    assert found.df == 1
    bounds = found.share_bounds()
    assert 0.88 < bounds.low < bounds.high < 0.92


@pytest.mark.parametrize(
    ("ddof", "variance"), [(0, 0.93**2 / 4), (1, 0.93**2 / 5)], ids=["divided by n", "divided by n - 1"]
)
def test_published_deviation_is_of_single_seeds(ddof: int, variance: float) -> None:
    found = published_mean(52.01, 0.93, 5, 0.0, ddof)
    assert (found.value, found.df, found.n_seeds) == (52.01, pytest.approx(4), 5)
    assert found.standard_error**2 == pytest.approx(variance)


def test_a_deviation_printed_as_zero_may_be_half_a_digit() -> None:
    assert published_mean(99.0, 0.0, 5, 0.005).standard_error == pytest.approx(0.005 / 2)


def test_a_difference_rests_on_the_fewest_seeds_and_subjects() -> None:
    some = Estimate(1.0, (Variance(1.0, 0.1),), 5, 61)
    other = Estimate(1.0, (Variance(1.0, 0.1),), 3)
    assert (some.minus(other).n_seeds, some.minus(other).n_subjects) == (3, 61)
    assert other.minus(other).n_subjects is None


@pytest.mark.parametrize(("n_subjects", "few"), [(9, True), (10, False), (None, False)])
def test_few_subjects_are_flagged_where_subjects_vary(n_subjects: int | None, few: bool) -> None:
    assert Estimate(0.0, (Variance(1.0, 0.1),), 5, n_subjects).few_subjects is few


def test_one_seed_has_no_interval() -> None:
    with pytest.raises(FewSeedsError, match="no verdict from 1 seed"):
        mean_over_seeds(np.array([0.5]))
    with pytest.raises(FewSeedsError, match="no verdict from 1 seed"):
        published_mean(52.01, 0.93, 1, 0.005)


def test_bounds_are_cut_off_where_no_value_can_be() -> None:
    assert Bounds(-5e14, 3.0, 0.95).within(100.0) == Bounds(-100.0, 3.0, 0.95)
