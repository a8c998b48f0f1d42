"""What intervals decide by hand, and how often they decide wrongly."""

from functools import partial
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import RecordError
from bench.stats.estimate import Bounds, Estimate, Variance, mean_over_seeds, published_mean
from bench.stats.verdict import (
    MARGIN_STDS,
    Decision,
    decide_above,
    decide_all,
    decide_all_positive,
    decide_effect,
    decide_number,
    decide_parts,
    decide_range,
    decide_sign,
)

S, C, U = Decision.SUPPORTED, Decision.CONTRADICTED, Decision.UNDECIDED


def effect(value: float, error: float = 1.0, n_subjects: int | None = None) -> Estimate:
    """Return an estimate whose 95 % interval is 1.96 errors wide to each side."""
    return Estimate(value, (Variance(error**2, 1e-12),), 5, n_subjects)


@pytest.mark.parametrize(("value", "expected"), [(2.0, S), (1.9, U), (0.0, U), (-1.9, U), (-2.0, C)])
def test_a_sign_is_decided_where_the_interval_excludes_zero(value: float, expected: Decision) -> None:
    assert decide_sign(effect(value)) is expected


@given(st.floats(-5, 5), st.floats(0.1, 3))
def test_the_opposite_claim_has_the_opposite_verdict(value: float, error: float) -> None:
    opposite = {S: C, C: S, U: U}
    assert decide_sign(effect(-value, error)) is opposite[decide_sign(effect(value, error))]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, 3.0], S),
        ([2.0, 1.9], U),
        ([9.0, -2.0], U),  # -1.96 would do alone, of two it takes -2.24
        ([9.0, -2.3], C),
        ([9.0, 9.0, -2.3], U),
        ([9.0, 9.0, -2.4], C),
    ],
)
def test_all_must_be_above_and_one_below_has_to_be_surer(values: list[float], expected: Decision) -> None:
    assert decide_all_positive([effect(value) for value in values]) is expected


@pytest.mark.parametrize(("n_subjects", "expected"), [(4, U), (9, U), (10, S), (None, S)])
def test_few_drawn_subjects_decide_nothing(n_subjects: int | None, expected: Decision) -> None:
    assert decide_sign(effect(99.0, 1.0, n_subjects)) is expected
    assert decide_number(effect(1.0, 0.1, n_subjects), effect(1.0, 0.1), 1.0, 0.0) is expected


def test_no_effect_is_no_claim() -> None:
    with pytest.raises(RecordError, match="no effect to decide on"):
        decide_all_positive([])


@pytest.mark.parametrize(
    ("measured", "margin", "expected"),
    [
        (50.0, 3.0, S),  # 50 +- 2.05 sqrt(2) is 47.1 to 52.9
        (50.0, 2.9, U),
        (52.8, 3.0, U),
        (53.0, 3.0, C),
        (47.0, 3.0, C),
        (53.0, 6.0, S),  # surely apart, and surely less than the margin
    ],
)
def test_a_number_is_decided_by_margin_and_zero(measured: float, margin: float, expected: Decision) -> None:
    assert decide_number(effect(measured), effect(50.0), margin, 0.0) is expected


def test_rounding_widens_what_is_decided() -> None:
    found = [decide_number(effect(50.01, 0.001), effect(50.0, 0.001), 0.001, half) for half in (0.0, 0.01)]
    assert found == [C, U]


@pytest.mark.parametrize(
    ("parts", "whole"), [([S, S], S), ([S, U], U), ([U, C], C), ([S, C], C), ([U, U], U), ([], U)]
)
def test_a_claim_of_parts_needs_all(parts: list[Decision], whole: Decision) -> None:
    assert decide_all(parts) is whole


def published_study(rng: np.random.Generator, off: float, spread: float = 1.0) -> Decision:
    """Decide on a printed mean and deviation of five seeds; ours are off by printed margins."""
    theirs = 52.01 + 0.93 * rng.standard_normal(5)
    std = round(float(theirs.std()), 2)
    margin = MARGIN_STDS * std
    ours = 52.01 + off * margin + spread * 0.93 * rng.standard_normal(5)
    stated = published_mean(round(float(theirs.mean()), 2), std, 5, 0.005)
    return decide_number(mean_over_seeds(ours), stated, margin, 0.005)


@pytest.mark.parametrize("spread", [1 / 3, 1.0, 3.0])
def test_a_number_that_is_exactly_right_is_seldom_contradicted(spread: float) -> None:
    rng = np.random.default_rng(0)
    found = [published_study(rng, 0.0, spread) for _ in range(3000)]
    assert found.count(C) / 3000 <= 0.05


def test_a_number_that_is_off_by_the_margin_is_seldom_supported() -> None:
    rng = np.random.default_rng(0)
    found = [published_study(rng, 1.0) for _ in range(3000)]
    assert found.count(S) / 3000 <= 0.05
    assert found.count(C) / 3000 >= 0.5


def leads(rng: np.random.Generator, losses: tuple[float, ...]) -> list[Estimate]:
    """Return what a full model of five seeds leads its reduced ones by; deviations are 0.9."""
    full = mean_over_seeds(0.9 * rng.standard_normal(5))
    return [full.minus(mean_over_seeds(0.9 * rng.standard_normal(5) - loss)) for loss in losses]


@pytest.mark.parametrize("losses", [(0.0,), (0.0, 0.0, 0.0), (0.0, 3.0, 3.0)], ids=str)
def test_where_nothing_helps_best_of_all_is_seldom_decided(losses: tuple[float, ...]) -> None:
    rng = np.random.default_rng(0)
    found = [decide_all_positive(leads(rng, losses)) for _ in range(3000)]
    assert found.count(S) / 3000 <= 0.05
    assert found.count(C) / 3000 <= 0.05


def test_small_effects_that_are_there_are_not_contradicted() -> None:
    rng = np.random.default_rng(0)
    found = [decide_all_positive(leads(rng, (1.76, 0.60, 1.03))) for _ in range(2000)]
    assert found.count(C) / 2000 <= 0.005  # the sign of the means contradicts in a third


def test_five_seeds_of_equal_spread_can_support_a_number() -> None:
    # The half-width is t(8) sqrt(2 / 5) = 1.55 deviations at 96 %, below the margin of 2.
    ours = published_mean(50.0, 1.0, 5, 0.0, ddof=1)
    assert ours.minus(ours).bounds(0.96).high == pytest.approx(2.449 * sqrt(2 / 5), abs=1e-3)
    assert decide_number(ours, ours, MARGIN_STDS, 0.005) is S


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(1.0, 2.0, S), (1.2, 1.8, S), (0.9, 2.0, U), (1.5, 2.1, U), (0.5, 2.5, U), (2.1, 3.0, C), (0.0, 0.9, C)],
)
def test_a_range_is_decided_by_an_interval_wholly_inside_or_outside(
    low: float, high: float, expected: Decision
) -> None:
    assert decide_range(Bounds(low, high, 0.95), 1.0, 2.0) is expected


@pytest.mark.parametrize(("low", "high", "expected"), [(1.1, 2.0, S), (1.0, 1.0, U), (0.5, 0.9, C)])
def test_a_tie_is_not_above(low: float, high: float, expected: Decision) -> None:
    assert decide_above(Bounds(low, high, 0.95), 1.0) is expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [((2.0, 2.0), S), ((2.0, 1.9), U), ((2.0, -2.0), U), ((2.0, -2.3), C)],
    ids=["all at the full level", "not all", "one, but not at the level of a part", "one"],
)
def test_parts_support_at_the_full_level_and_contradict_at_their_own(
    values: tuple[float, ...], expected: Decision
) -> None:
    parts = [partial(decide_sign, effect(value)) for value in values]
    assert decide_parts(parts) is expected


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("measured", "expected"),
    [(3.5, S), (1.5, U), (-3.0, C), (20.0, C)],
    ids=["as stated", "perhaps no effect", "the other way", "another size"],
)
def test_an_effect_needs_its_sign_and_its_size(measured: float, expected: Decision, sign: float) -> None:
    ours, published = effect(sign * measured), effect(sign * 3.0)
    assert decide_effect(ours, published, 6.0, 0.005) is expected
