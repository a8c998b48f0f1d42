import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.stats.timings import median_interval, speed_ratio, summarise

seconds = st.floats(1e-4, 1e3)


def test_summary_of_known_rounds() -> None:
    summary = summarise([[1.0, 3.0, 2.0], [4.0], [3.0, 5.0]])
    assert (summary.median, summary.n_rounds, summary.n_runs) == (4.0, 3, 6)
    assert summary.quartiles == (2.25, 3.75)


def test_tail_is_over_single_runs() -> None:
    assert summarise([[1.0] * 99 + [9.0]] * 6).p95 == 1.0
    assert summarise([[1.0] * 9 + [9.0]] * 6).p95 == 9.0


@pytest.mark.parametrize(("n", "rank"), [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (30, 10)])
def test_interval_has_the_ranks_of_the_sign_test(n: int, rank: int) -> None:
    """Ranks as in published tables of confidence limits for the median at 95 percent."""
    assert median_interval([float(one) for one in range(1, n + 1)]) == (rank, n + 1 - rank)


def test_five_rounds_have_no_interval() -> None:
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None


def test_interval_covers_the_median_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    draws = generator.exponential(size=(2000, 15))
    intervals = [median_interval(one.tolist()) for one in draws]
    covered = [one is not None and one[0] <= np.log(2) <= one[1] for one in intervals]
    assert 0.95 <= np.mean(covered) <= 0.985


@given(st.lists(st.lists(seconds, min_size=1, max_size=4), min_size=6, max_size=12), st.floats(0.1, 10))
def test_summary_scales_with_the_unit(rounds: list[list[float]], factor: float) -> None:
    scaled = summarise([[factor * one for one in runs] for runs in rounds])
    assert scaled.median == pytest.approx(factor * summarise(rounds).median)
    assert scaled.half_width == pytest.approx(summarise(rounds).half_width)


def test_ratio_is_of_windows_per_second() -> None:
    ratio = speed_ratio([[2.0]] * 6, [[1.0]] * 6, (64, 256))
    assert ratio is not None
    assert (ratio.median, ratio.low, ratio.high) == (8.0, 8.0, 8.0)


def test_ratio_is_untouched_by_drift_that_hits_both() -> None:
    drift = [1.0, 1.4, 2.0, 3.0, 1.1, 0.9, 5.0]
    ratio = speed_ratio([[3 * one] for one in drift], [[one] for one in drift], (1, 1))
    assert ratio is not None
    assert (ratio.low, ratio.high) == pytest.approx((3.0, 3.0))


def test_ratio_uses_common_rounds_only() -> None:
    ratio = speed_ratio([[2.0]] * 3, [[1.0]] * 9, (1, 1))
    assert ratio is not None
    assert (ratio.n_rounds, ratio.low) == (3, None)


def test_no_rounds_no_ratio() -> None:
    assert speed_ratio([], [[1.0]], (1, 1)) is None
