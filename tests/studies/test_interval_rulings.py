"""Rulings on claims from estimates: claims of several parts, and the numbers that are told."""

import pytest

from bench.paper.scale import Verdict
from bench.stats.estimate import Estimate, Variance
from bench.studies.interval_rulings import parts_ruling, positive_ruling


def effect(value: float) -> Estimate:
    """Return an estimate whose 95 % interval is 1.96 wide to each side."""
    return Estimate(value, (Variance(1.0, 1e-12),), 5)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((2.0, 2.0), Verdict.SUPPORTED),
        ((2.0, 1.0), Verdict.UNDECIDED),
        # Below zero at 95 %, but not at the level of one of two parts.
        ((2.0, -2.0), Verdict.UNDECIDED),
        ((2.0, -2.3), Verdict.CONTRADICTED),
    ],
)
def test_a_part_contradicts_at_its_own_level(values: tuple[float, ...], verdict: Verdict) -> None:
    parts = [
        lambda level, value=value: positive_ruling("effects", {"": effect(value)}, level) for value in values
    ]
    assert parts_ruling(parts).verdict is verdict


def test_evidence_counts_the_sure_effects_and_shows_the_lowest() -> None:
    effects = {"a": effect(3.0), "b": effect(-3.0), "c": effect(0.5)}
    evidence = positive_ruling("leads", effects).evidence
    assert evidence == "leads: 1 of 3 intervals above zero, 1 below, lowest -3.00 [-4.96, -1.04] (b)"
