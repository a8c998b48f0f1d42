"""Verdicts on the paper's claims of linear and quadratic cost, from counted operations over lengths.

Operations are the same on every device; only curves at the sizes of the published scripts count. An exponent has the
interval of a straight line's slope over the lengths.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from bench.analyses.scaling.record import FIT_FROM, NAME, Exponent, ScalingRecord, fit_exponent
from bench.paper import published
from bench.paper.claims import Claim, RecordJudge
from bench.paper.names import OURS
from bench.paper.scale import Ruling, Verdict
from bench.stats.estimate import Bounds, Estimate, Variance
from bench.stats.verdict import decide_all, decide_range, part_level
from bench.studies.suite import Suite

DATASET = "adftd"
CLOSE = 0.2
"""Our choice: an exponent at most this far from the stated one is the stated one."""


def judges(records: Sequence[ScalingRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of claims of linear and quadratic cost."""
    return {NAME: ScalingJudge(records)}


class ScalingJudge:
    """Judges exponents of operations over the length of the window."""

    def __init__(self, records: Sequence[ScalingRecord]) -> None:
        self._rules: dict[str, Callable[..., Ruling | None]] = {
            "exponent": self._exponent,
            "slower_but_linear": self._slower_but_linear,
        }
        self.exponents: dict[str, Estimate] = {}
        for record in records:
            if record.dataset == DATASET:
                fits = {curve.model: fit_exponent(curve, "operations") for curve in record.curves}
                self.exponents |= {name: _estimate(fit) for name, fit in fits.items() if fit is not None}

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where a model's curve is missing."""
        about = dict(claim.about)
        return self._rules[about.pop("rule")](**about)

    def _exponent(self, models: Sequence[str], exponent: float) -> Ruling | None:
        """Compare every named model's exponent with the stated one."""
        return self._within(models, exponent - CLOSE, exponent + CLOSE)

    def _slower_but_linear(self) -> Ruling | None:
        """Rule on the cost of every model that the paper prints as slower than MedMamba being more than linear."""
        speeds: dict[str, Any] = {
            row.model: row for row in published.efficiency() if row.quantity == "throughput"
        }
        slower = [name for name, speed in speeds.items() if speed.high < speeds[OURS].low]
        return self._within(slower, 1 + CLOSE, inf)

    def _within(self, models: Sequence[str], low: float, high: float) -> Ruling | None:
        """Rule on all exponents lying in a range; None where one is missing."""
        found = {name: self.exponents[name] for name in models if name in self.exponents}
        if len(found) < len(models):
            return None
        bounds = {name: exponent.bounds(part_level(len(found))) for name, exponent in found.items()}
        decision = decide_all(decide_range(interval, low, high) for interval in bounds.values())
        return Ruling(Verdict(decision), f"{_shown(bounds)}; wanted: {low:g} to {high:g}")


def _estimate(exponent: Exponent) -> Estimate:
    return Estimate(
        exponent.value,
        (Variance.of_mean_square(exponent.error**2, exponent.n_points - 2),),
        exponent.n_points,
    )


def _shown(bounds: Mapping[str, Bounds]) -> str:
    texts = ", ".join(f"{name} {found.low:.2f} to {found.high:.2f}" for name, found in bounds.items())
    return f"exponents of operations from {FIT_FROM} steps: {texts}"
