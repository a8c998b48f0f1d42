"""Verdict on the paper's parameter counts on ADFTD, at the width of the published scores.

Counts are no estimates. Sizes of the wide models are told, but the paper has no scores of such models.
"""

from collections.abc import Mapping, Sequence

from bench.analyses.efficiency.panels import Panel
from bench.paper.claims import Claim
from bench.paper.names import OURS
from bench.paper.scale import Ruling, Verdict
from bench.results.efficiency_record import Width

DATASET, PRESET = "adftd", "paper"
SCORED: Width = "script"
"""The width of the models whose scores the paper prints."""
MILLION = 1e6
HALF_DIGIT = 0.05
"""Counts in millions and their ratios are printed with one decimal."""


class ParametersJudge:
    """Judges counts, and their ratio to MedMamba's."""

    def __init__(self, found: Sequence[Panel]) -> None:
        self.counts: dict[Width, dict[str, float]] = {}
        for panel in found:
            if panel.key.task.dataset == DATASET and panel.key.preset == PRESET:
                of_width = self.counts.setdefault(panel.key.width, {})
                of_width.update(
                    {name: record.parameters.total / MILLION for name, record in panel.records.items()}
                )

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where a model was not measured at the width of the scores."""
        stated: Mapping[str, float] = claim.about["millions"]
        counts = self.counts.get(SCORED, {})
        if not stated.keys() <= counts.keys():
            return None
        ratios = [counts[name] / counts[OURS] for name in stated if name != OURS]
        agree = [abs(counts[name] - value) <= HALF_DIGIT for name, value in stated.items()]
        agree += [abs(ratio - claim.about["ratio"]) <= HALF_DIGIT for ratio in ratios]
        texts = [_shown(width, found, stated) for width, found in sorted(self.counts.items())]
        return Ruling(Verdict.of(all(agree)), f"{'; '.join(texts)}; scores are of width {SCORED}")


def _shown(width: Width, found: Mapping[str, float], stated: Mapping[str, float]) -> str:
    texts = [f"{name} {found[name]:.2f} million" for name in stated if name in found]
    if stated.keys() <= found.keys():
        texts += [f"{found[name] / found[OURS]:.2f} times as many" for name in stated if name != OURS]
    return f"width {width}: {', '.join(texts)}"
