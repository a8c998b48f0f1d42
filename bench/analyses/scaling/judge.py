"""Verdicts on the paper's claims of linear and quadratic cost, from counted operations over lengths.

Operations are the same on every device; only curves at the sizes of the published scripts count.
"""

from collections.abc import Callable, Sequence
from typing import Any

from bench.analyses.scaling.record import FIT_FROM, NAME, ScalingRecord, fit_exponent
from bench.paper import published
from bench.paper.claims import Claim, RecordJudge, Ruling
from bench.paper.names import OURS
from bench.paper.rulings import by_distance, comparison_ruling
from bench.studies.suite import Suite

DATASET = "adftd"
CLOSE = 0.1
"""Our choice: an exponent is reproduced up to 0.1 from the stated one, within bounds up to 0.25."""
BOUNDS = 0.25


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
        self.exponents: dict[str, float] = {}
        for record in records:
            if record.dataset == DATASET:
                fits = {curve.model: fit_exponent(curve, "operations") for curve in record.curves}
                self.exponents |= {name: fit.value for name, fit in fits.items() if fit is not None}

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where a model's curve is missing."""
        about = dict(claim.about)
        return self._rules[about.pop("rule")](**about)

    def _exponent(self, models: Sequence[str], exponent: float) -> Ruling | None:
        """Compare every named model with the stated exponent; the model farthest off decides."""
        found = {name: self.exponents[name] for name in models if name in self.exponents}
        if len(found) < len(models):
            return None
        off = max(abs(value - exponent) for value in found.values())
        return Ruling(by_distance(off, CLOSE, BOUNDS), self._shown(found))

    def _slower_but_linear(self) -> Ruling | None:
        """Look for models that the paper prints as slower than MedMamba although their cost is linear, too."""
        speeds: dict[str, Any] = {
            row.model: row for row in published.efficiency() if row.quantity == "throughput"
        }
        slower = [name for name, speed in speeds.items() if speed.high < speeds[OURS].low]
        found = {name: self.exponents[name] for name in slower if name in self.exponents}
        if len(found) < len(slower):
            return None
        linear = {name: value for name, value in found.items() if value <= 1 + CLOSE}
        shown = f"printed as slower, yet as linear: {self._shown(linear)}" if linear else self._shown(found)
        return comparison_ruling(not linear, shown)

    def _shown(self, exponents: dict[str, float]) -> str:
        texts = ", ".join(f"{name} {value:.2f}" for name, value in exponents.items())
        return f"exponents of operations from {FIT_FROM} steps: {texts}"
