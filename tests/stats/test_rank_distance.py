"""Which average ranks a critical difference tells apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.stats.rank_distance import rank_distance
from bench.stats.statistics import nemenyi_critical_difference


def test_far_models_can_be_told_apart_and_near_ones_cannot() -> None:
    found = rank_distance(np.array([9.0, 1.5, 4.0, 2.0]), 5.0)
    assert found.separable == ((1, 0), (3, 0))
    assert (found.largest, found.n_pairs) == (3, 6)


def test_twelve_models_on_six_datasets_can_be_told_apart() -> None:
    found = rank_distance(np.arange(1.0, 13), nemenyi_critical_difference(12, 6))
    assert found.critical == pytest.approx(6.8, abs=0.05)
    assert found.largest == 11
    assert len(found.separable) == 5 + 4 + 3 + 2 + 1  # 7 or more ranks apart


@given(st.lists(st.floats(1, 12), min_size=2, max_size=12), st.floats(0, 12))
def test_pairs_lie_further_apart_than_the_critical_difference(ranks: list[float], critical: float) -> None:
    found = rank_distance(np.array(ranks), critical)
    assert all(ranks[worse] - ranks[better] > critical for better, worse in found.separable)
    n_near = sum(
        abs(first - second) <= critical
        for number, first in enumerate(ranks)
        for second in ranks[number + 1 :]
    )
    assert len(found.separable) + n_near == found.n_pairs
