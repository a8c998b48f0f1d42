"""Verdicts on the paper's claims of speed, from efficiency records.

The paper timed an RTX 3090 at batch 256. Only panels of that device and batch decide; for others the evidence says
what was measured and where.
"""

from collections.abc import Callable, Sequence
from typing import Any

from bench.analyses.efficiency.panels import PUBLISHED_BATCH, Panel, panels
from bench.analyses.efficiency.parameters_judge import ParametersJudge
from bench.paper import published
from bench.paper.claim_checks import Verdict
from bench.paper.claims import Claim, RecordJudge, Ruling
from bench.paper.names import OURS
from bench.paper.rulings import by_distance, comparison_verdict
from bench.results.efficiency_record import EfficiencyRecord
from bench.studies.measured_scores import comparable_mean
from bench.studies.suite import Suite

DATASET, PRESET, DEVICE = "adftd", "paper", "RTX 3090"
CLOSE = 0.1
"""Our choice: a ratio of speeds is reproduced up to 10 percent off, within bounds up to 20."""

_Found = tuple[Verdict, str]
"""The verdict of one panel as if its device were the paper's, and its numbers."""


def judges(records: Sequence[EfficiencyRecord], suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judges of claims about speed, about speeds of one card, and about sizes."""
    found = panels(records)
    speed = EfficiencyJudge(found, suite)
    return {"efficiency": speed, "rtx-3090": speed, "parameters": ParametersJudge(found)}


class EfficiencyJudge:
    """Judges ratios of throughput and the fastest model; uses the F1 of a suite if a claim is about both."""

    def __init__(self, found: Sequence[Panel], suite: Suite | None) -> None:
        self.suite = suite
        self._rules: dict[str, Callable[[Panel, Any], _Found | None]] = {
            "ratios": self._ratios,
            "fastest": self._fastest,
            "trade-off": self._trade_off,
            "budget": self._budget,
            "throughput": self._throughput,
        }
        self.panels = [
            panel
            for panel in found
            if panel.key.task.dataset == DATASET and panel.key.preset == PRESET and OURS in panel.records
        ]

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where nothing was measured that touches the claim."""
        if "rule" not in claim.about:
            return None
        rule = self._rules[claim.about["rule"]]
        rulings = [(panel, found) for panel in self.panels if (found := rule(panel, claim.about))]
        if not rulings:
            return None
        evidence = "; ".join(f"{text} ({_place(panel)})" for panel, (_, text) in rulings)
        deciding = [verdict for panel, (verdict, _) in rulings if _decides(panel)]
        if not deciding and claim.needs == "rtx-3090":
            # An absolute number from another device cannot be compared.
            return None
        if not deciding:
            return Ruling(
                Verdict.NEEDS_RECORDS, f"{evidence}; only batch {PUBLISHED_BATCH} on an {DEVICE} decides"
            )
        return Ruling(_best(deciding), evidence)

    def _ratios(self, panel: Panel, about: Any) -> _Found | None:
        """Compare MedMamba's speed over each model's with the stated ratio; the model farthest off decides."""
        rivals = [name for name in about["models"] if name != OURS]
        found = {
            name: ratio.median for name in rivals if name in panel.records and (ratio := panel.ratio(name))
        }
        if len(found) < len(rivals):
            return None
        off = max(abs(value / about["ratio"] - 1) for value in found.values())
        evidence = ", ".join(f"{value:.2f} times {name}'s speed" for name, value in found.items())
        return by_distance(off, CLOSE, 2 * CLOSE), evidence

    def _throughput(self, panel: Panel, about: Any) -> _Found | None:
        """Compare windows per second with the stated range; the model farthest outside decides."""
        speeds = _speeds(panel)
        if not set(about["models"]) <= speeds.keys():
            return None
        low, high = about["windows_per_s"]
        off = max(max(low / speeds[name], speeds[name] / high) - 1 for name in about["models"])
        evidence = ", ".join(f"{name} {speeds[name]:,.0f} windows/s" for name in about["models"])
        return by_distance(off, CLOSE, 2 * CLOSE), evidence

    def _fastest(self, panel: Panel, _about: Any) -> _Found | None:
        speeds = _of_all(_speeds(panel))
        if speeds is None:
            return None
        faster = {name: speed / speeds[OURS] for name, speed in speeds.items() if speed > speeds[OURS]}
        evidence = ", ".join(f"{name} {times:.1f} times as fast as {OURS}" for name, times in faster.items())
        return comparison_verdict(not faster), evidence or f"fastest of {len(speeds)}"

    def _trade_off(self, panel: Panel, _about: Any) -> _Found | None:
        speeds, scores = _of_all(_speeds(panel)), _of_all(self._scores(panel))
        if speeds is None or scores is None:
            return None
        beating = sorted(n for n in speeds if speeds[n] > speeds[OURS] and scores[n] > scores[OURS])
        evidence = f"both better and faster: {', '.join(beating) or 'none'} of {len(speeds) - 1}"
        return comparison_verdict(not beating), evidence

    def _budget(self, panel: Panel, about: Any) -> _Found | None:
        speeds, scores = _of_all(_speeds(panel)), _of_all(self._scores(panel))
        if speeds is None or scores is None:
            return None
        low, high = about["millions"]
        rivals = [n for n in speeds if n != OURS and low <= panel.records[n].parameters.total / 1e6 <= high]
        worse = [n for n in rivals if speeds[n] >= speeds[OURS] or scores[n] >= scores[OURS]]
        evidence = f"faster or better: {', '.join(worse) or 'none'} of {len(rivals)} of such sizes"
        return comparison_verdict(not worse), evidence

    def _scores(self, panel: Panel) -> dict[str, float]:
        """Return macro F1 in percent of the panel's models whose scores may be compared with the paper's."""
        study = self.suite.study(DATASET) if self.suite else None
        found = {name: comparable_mean(study, name, "f1") for name in panel.records}
        return {name: value for name, value in found.items() if value is not None}


def _of_all(found: dict[str, float]) -> dict[str, float] | None:
    """Return the numbers of the paper's models; None unless all are there."""
    wanted = published.models()
    return {name: found[name] for name in wanted} if set(wanted) <= found.keys() else None


def _speeds(panel: Panel) -> dict[str, float]:
    found = {name: panel.throughput(name) for name in panel.records}
    return {name: speed for name, speed in found.items() if speed is not None}


def _decides(panel: Panel) -> bool:
    """Tell whether a panel is from the paper's device and every model in it ran at the paper's batch, none at less."""
    run = {found.batch for name in panel.records if (found := panel.compared(name)) is not None}
    return DEVICE in panel.key.device_name and run == {PUBLISHED_BATCH}


def _place(panel: Panel) -> str:
    return f"width {panel.key.width}, batch {panel.throughput_batch}, {panel.key.device_name}"


def _best(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict most favourable to the paper, which does not give the width of every number."""
    order = (Verdict.REPRODUCED, Verdict.WITHIN_BOUNDS, Verdict.CONTRADICTED)
    return min(verdicts, key=order.index)
