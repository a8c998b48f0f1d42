"""Verdicts on the paper's claims about its ablation on ADFTD, from records of the full and the reduced models."""

from collections.abc import Sequence
from itertools import pairwise

from bench.paper import published
from bench.paper.claims import Claim
from bench.paper.names import OURS
from bench.paper.published import ABLATION_DATASET, HALF_DIGIT
from bench.paper.scale import Ruling
from bench.report.judges.claim_parts import Rule, ruled_by_check
from bench.stats.estimate import Estimate
from bench.studies.interval_rulings import effect_ruling, positive_ruling
from bench.studies.measured_scores import comparable_lead
from bench.studies.suite import Suite


class AblationJudge:
    """Judges claims about the losses of the reduced models."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self._rules: dict[str, Rule] = {
            "loses": self._loses,
            "full_model_best": self._full_model_best,
            "loss_order": self._loss_order,
        }

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the claim is of no kind known here."""
        return ruled_by_check(claim, self._rules)

    def _loses(self, level: float, *, variant: str, metric: str, mean: float, loss: float) -> Ruling:
        del mean  # the loss is claimed; the table of the ablation has the score itself
        stds = [
            cell.std
            for cell in published.ablation()
            if cell.metric == metric and cell.variant in (OURS, variant)
        ]
        return effect_ruling(self._above(OURS, variant, metric), loss, stds, 2 * HALF_DIGIT, level)

    def _full_model_best(self, level: float, *, variants: Sequence[str]) -> Ruling:
        losses = {
            f"{metric} of {variant}": self._above(OURS, variant, metric)
            for variant in variants
            for metric in published.METRICS
        }
        return positive_ruling("losses", losses, level)

    def _loss_order(self, level: float, *, variants: Sequence[str]) -> Ruling:
        """Compare reduced models with each other: the one whose part brings more is the lower one."""
        gaps = {
            f"{metric} of {higher} minus {lower}": self._above(higher, lower, metric)
            for lower, higher in pairwise(variants)
            for metric in published.METRICS
        }
        return positive_ruling("differences in the stated order", gaps, level)

    def _above(self, model: str, other: str, metric: str) -> Estimate:
        return comparable_lead(self.suite, ABLATION_DATASET, model, other, metric)
