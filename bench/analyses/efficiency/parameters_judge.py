"""Verdicts on the paper's parameter counts on ADFTD, from efficiency records of either width."""

from collections.abc import Sequence

from bench.analyses.efficiency.panels import Panel
from bench.paper.claim_checks import Verdict
from bench.paper.claims import Claim, Ruling
from bench.results.efficiency_record import Width

DATASET, PRESET = "adftd", "paper"
MILLION = 1e6
HALF_DIGIT = 0.05
"""Counts in millions and their ratios are printed with one decimal."""


class ParametersJudge:
    """Judges counts and their ratios: reproduced at the scripts' sizes, within bounds if only the wide sizes agree."""

    def __init__(self, found: Sequence[Panel]) -> None:
        self.counts: dict[Width, dict[str, float]] = {}
        for panel in found:
            if panel.key.task.dataset == DATASET and panel.key.preset == PRESET:
                of_width = self.counts.setdefault(panel.key.width, {})
                of_width.update(
                    {name: record.parameters.total / MILLION for name, record in panel.records.items()}
                )

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the models were not measured."""
        about = claim.about
        if "ratio" in about:
            larger, smaller = about["models"]
            ratios: dict[Width, float] = {
                width: c[larger] / c[smaller]
                for width, c in self.counts.items()
                if {larger, smaller} <= c.keys()
            }
            return _ruling(ratios, about["ratio"], "times")
        model = about["model"]
        found: dict[Width, float] = {width: c[model] for width, c in self.counts.items() if model in c}
        return _ruling(found, about["millions"], "million")


def _ruling(found: dict[Width, float], stated: float, unit: str) -> Ruling | None:
    if not found:
        return None
    evidence = ", ".join(f"{value:.2f} {unit} at width {width}" for width, value in sorted(found.items()))
    equal = {width for width, value in found.items() if abs(value - stated) <= HALF_DIGIT}
    if "script" in equal:
        return Ruling(Verdict.REPRODUCED, evidence)
    if equal:
        return Ruling(
            Verdict.WITHIN_BOUNDS,
            f"{evidence}: stated {stated:g} is of the wide model, the scores are of the script's",
        )
    # The claimed number may belong to the width that was not measured.
    verdict = Verdict.CONTRADICTED if len(found) == 2 else Verdict.NEEDS_RECORDS
    return Ruling(verdict, f"{evidence}, stated {stated:g}")
