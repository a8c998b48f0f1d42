"""Verdicts on the paper's claims about its ablation on ADFTD, from records of the full and the reduced models."""

from collections.abc import Callable, Sequence

from bench.paper import published
from bench.paper.claims import Claim, Ruling
from bench.paper.names import OURS
from bench.paper.rulings import comparison_ruling, effect_ruling
from bench.studies.measured_scores import comparable_mean, score_ruling, seed_difference
from bench.studies.suite import Suite


class AblationJudge:
    """Judges claims about the losses of the reduced models."""

    def __init__(self, suite: Suite) -> None:
        self.study = suite.study(published.ABLATION_DATASET)
        self._rules: dict[str, Callable[..., Ruling | None]] = {
            "loses": self._loses,
            "full_model_best": self._full_model_best,
            "loss_order": self._loss_order,
        }

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the records do not touch the claim."""
        about = claim.about
        if {"model", "metric", "mean", "std"} <= about.keys():
            return score_ruling(self.study, about["model"], about["metric"], about["mean"], about["std"])
        arguments = dict(claim.check)
        rule = self._rules.get(arguments.pop("name", ""))
        return rule(**arguments) if rule else None

    def _loses(self, variant: str, metric: str, mean: float, loss: float) -> Ruling | None:
        lost = seed_difference(self.study, OURS, variant, metric)
        return None if lost is None else effect_ruling(lost[0], loss, lost[1])

    def _full_model_best(self, variants: Sequence[str]) -> Ruling | None:
        cells = [(variant, metric) for variant in variants for metric in published.METRICS]
        losses = [seed_difference(self.study, OURS, *cell) for cell in cells]
        known = [loss for loss in losses if loss is not None]
        if len(known) < len(losses):
            return None
        lower = sum(mean > 0 for mean, _ in known)
        clear = sum(mean > std for mean, std in known)
        return comparison_ruling(
            lower == len(known),
            f"measured lower in {lower} of {len(known)} cells, in {clear} by more than one deviation of the loss over "
            f"seeds, least {min(known)[0]:+.2f}",
        )

    def _loss_order(self, variants: Sequence[str]) -> Ruling | None:
        wrong = []
        for metric in published.METRICS:
            losses = [self._loss(variant, metric) for variant in variants]
            known = [loss for loss in losses if loss is not None]
            if len(known) < len(losses):
                return None
            if known != sorted(known, reverse=True):
                wrong.append(metric)
        order = f"measured in another order in {', '.join(wrong)}" if wrong else "measured in this order"
        return comparison_ruling(not wrong, order)

    def _loss(self, variant: str, metric: str) -> float | None:
        """Return the loss of a reduced model against the full model, in percentage points."""
        full = comparable_mean(self.study, OURS, metric)
        reduced = comparable_mean(self.study, variant, metric)
        return None if full is None or reduced is None else full - reduced
