"""The worst-case mismatch against hand-computed values, and the best strides."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.analyses.theory.scale_mismatch import (
    best_inside,
    best_whole,
    best_with_ends,
    check_scale_mismatch,
    mismatch,
    searched_mismatch,
    worst_mismatch,
)


def test_mismatch_by_hand() -> None:
    found = mismatch([5, 6, 20, 50], (5, 10, 25))
    assert found.tolist() == pytest.approx([0, math.log(6 / 5), math.log(25 / 20), math.log(2)])


def test_worst_of_the_papers_strides_is_half_the_largest_gap() -> None:
    assert worst_mismatch((5, 10, 25)) == pytest.approx(0.5 * math.log(2.5))


def test_single_stride_has_no_gap() -> None:
    assert worst_mismatch((5,)) == 0.0


@given(st.lists(st.floats(1, 1000), min_size=2, max_size=8, unique=True))
def test_search_finds_the_closed_form(strides: list[float]) -> None:
    found = searched_mismatch(strides, min(strides), max(strides))
    assert found == pytest.approx(worst_mismatch(strides), abs=1e-6)


def test_best_three_strides_are_geometric() -> None:
    assert best_with_ends(5, 25, 3) == pytest.approx([5, math.sqrt(125), 25])
    assert worst_mismatch(best_with_ends(5, 25, 3)) == pytest.approx(math.log(5) / 4)


def test_best_whole_strides() -> None:
    assert best_whole(5, 25, 3) == [5, 11, 25]


@given(st.floats(5.01, 24.99))
def test_no_middle_stride_is_better_than_the_geometric_one(middle: float) -> None:
    assert worst_mismatch((5, middle, 25)) >= worst_mismatch(best_with_ends(5, 25, 3)) - 1e-12


def test_free_ends_cover_the_range_from_inside() -> None:
    inside = best_inside(5, 25, 3)
    assert searched_mismatch(inside, 5, 25) == pytest.approx(math.log(5) / 6)


def test_formula_holds_and_denser_is_not_always_better() -> None:
    formula, denser = check_scale_mismatch(np.random.default_rng(0))
    assert (formula.verdict, denser.verdict) == ("holds", "does not hold here")
    # 11 to 24 lie within the largest gap; 6, 7, 8 and 9 do not.
    assert (denser.values["n_better"], denser.values["n_added"]) == (14, 18)
