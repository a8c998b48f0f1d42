"""Relative changes, and means over seeds, against hand-computed values."""

import pytest

from bench.analyses.channel_mixing.record import relative_change
from bench.stats.summary import over_seeds


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(0.5, 0.4, -20), (-0.2, -0.1, 50), (-0.2, 0.2, 200), (0.0, 0.1, None), (None, 1, None), (1, None, None)],
)
def test_relative_change_by_hand(before: float | None, after: float | None, expected: float | None) -> None:
    assert relative_change(before, after) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 3.0], (2.0, 2**0.5)), ([1.0, None], (1.0, None)), ([None], None), ([], None)],
)
def test_over_seeds_by_hand(values: list[float | None], expected: tuple | None) -> None:
    assert over_seeds(values) == (None if expected is None else pytest.approx(expected))
