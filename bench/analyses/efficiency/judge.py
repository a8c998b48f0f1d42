"""Verdicts on the paper's claims of speed, from efficiency records.

The paper timed an RTX 3090 at batch 256, and its scores are of models of the scripts' width. One panel decides: that
width, that device, that batch; where there is none, the evidence says what was measured and where. Speeds are medians
over rounds, with their intervals. The baselines are this package's implementations.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

from bench.analyses.efficiency.panels import PUBLISHED_BATCH, Panel, panels
from bench.analyses.efficiency.parameters_judge import DATASET, MILLION, PRESET, SCORED, ParametersJudge
from bench.paper import published
from bench.paper.claims import Claim, RecordJudge
from bench.paper.names import OURS
from bench.paper.scale import Ruling, Verdict
from bench.results.efficiency_record import EfficiencyRecord
from bench.stats.estimate import Bounds
from bench.stats.verdict import Decision, decide_above, decide_all, decide_range, decide_sign, part_level
from bench.studies.measured_scores import NotComparableError, comparable_lead
from bench.studies.suite import Suite

DEVICE = "RTX 3090"
CLOSE = 0.1
"""Our choice: a speed or ratio of speeds at most 10 percent from the stated one is the stated one."""

_Found = tuple[Decision | Verdict, str]
"""The verdict on one panel as if its device were the paper's, and its numbers."""


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
        self.panel = _chosen(found)

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where nothing was measured that touches the claim."""
        if self.panel is None or "rule" not in claim.about:
            return None
        found = self._rules[claim.about["rule"]](self.panel, claim.about)
        if found is None:
            return None
        verdict, text = found
        evidence = f"{text} ({_place(self.panel)})"
        if _decides(self.panel) or verdict is Verdict.NOT_CHECKABLE:
            return Ruling(Verdict(verdict), evidence)
        if claim.needs == "rtx-3090":
            # An absolute number from another device cannot be compared.
            return None
        return Ruling(Verdict.UNDECIDED, f"{evidence}; only batch {PUBLISHED_BATCH} on an {DEVICE} decides")

    def _ratios(self, panel: Panel, about: Any) -> _Found | None:
        """Compare MedMamba's speed over each model's with the stated ratio."""
        stated, rounding = about["ratios"], about["half_digit"]
        found = _ratio_bounds(panel, stated)
        if found is None:
            return None
        decisions = [
            decide_range(found[name], ratio * (1 - CLOSE) - rounding, ratio * (1 + CLOSE) + rounding)
            for name, ratio in stated.items()
        ]
        return decide_all(decisions), _shown_ratios(found)

    def _throughput(self, panel: Panel, about: Any) -> _Found | None:
        """Compare windows per second with the stated ranges."""
        stated = about["windows_per_s"]
        level = part_level(len(stated))
        found = {name: panel.throughput_bounds(name, level) for name in stated if name in panel.records}
        known = {name: bounds for name, bounds in found.items() if bounds is not None}
        if len(known) < len(stated):
            return None
        decisions = [
            decide_range(known[name], low * (1 - CLOSE), high * (1 + CLOSE))
            for name, (low, high) in stated.items()
        ]
        texts = (f"{name} {bounds.low:,.0f} to {bounds.high:,.0f}" for name, bounds in known.items())
        return decide_all(decisions), f"windows/s: {', '.join(texts)}"

    def _fastest(self, panel: Panel, _about: Any) -> _Found | None:
        found = _ratio_bounds(panel, _rivals())
        if found is None:
            return None
        return decide_all(map(_faster, found.values())), _shown_ratios(found)

    def _trade_off(self, panel: Panel, _about: Any) -> _Found | None:
        """Rule that each rival is slower or worse; one that is surely faster and surely better contradicts it."""
        rivals = _rivals()
        # Either part may support, so that each gets half of the chance to err.
        speeds, better = _ratio_bounds(panel, rivals, 2), self._leads(rivals, 2)
        if speeds is None or better is None:
            return None
        either = [_either(_faster(speeds[name]), better[name]) for name in rivals]
        beating = [n for n, found in zip(rivals, either, strict=True) if found is Decision.CONTRADICTED]
        text = f"surely both better and faster: {', '.join(beating) or 'none'} of {len(rivals)}"
        return decide_all(either), text

    def _budget(self, panel: Panel, about: Any) -> _Found | None:
        """Rule that MedMamba is faster and better than each rival of such a size, at the width of the scores."""
        low, high = about["millions"]
        if not set(_rivals()) <= panel.records.keys():
            return None
        sizes = {name: panel.records[name].parameters.total / MILLION for name in _rivals()}
        rivals = [name for name, size in sizes.items() if low <= size <= high]
        if not rivals:
            return Verdict.NOT_CHECKABLE, f"no rival has {low:g} to {high:g} million parameters at this width"
        speeds, better = _ratio_bounds(panel, rivals, 2), self._leads(rivals, 2)
        if speeds is None or better is None:
            return None
        parts = [decision for name in rivals for decision in (_faster(speeds[name]), better[name])]
        return decide_all(parts), f"rivals of such sizes: {_shown_ratios(speeds)}"

    def _leads(self, rivals: Sequence[str], n_parts: int) -> dict[str, Decision] | None:
        """Decide whether MedMamba's macro F1 is higher than each rival's; None without comparable scores."""
        if self.suite is None:
            return None
        level = part_level(n_parts * len(rivals))
        try:
            leads = {name: comparable_lead(self.suite, DATASET, OURS, name, "f1") for name in rivals}
        except NotComparableError:
            return None
        return {name: decide_sign(lead, level) for name, lead in leads.items()}


def _chosen(found: Iterable[Panel]) -> Panel | None:
    """Return the one panel to rule on: of the scores' width, one that decides before others, then with most models."""
    fitting = [
        panel
        for panel in found
        if (panel.key.task.dataset, panel.key.preset, panel.key.width) == (DATASET, PRESET, SCORED)
        and OURS in panel.records
    ]
    return max(fitting, key=lambda panel: (_decides(panel), len(panel.records), -panel.number), default=None)


def _decides(panel: Panel) -> bool:
    """Tell whether a panel is from the paper's device and every model in it ran at the paper's batch, none at less."""
    run = {found.batch for name in panel.records if (found := panel.compared(name)) is not None}
    return DEVICE in panel.key.device_name and run == {PUBLISHED_BATCH}


def _rivals() -> list[str]:
    return [name for name in published.models() if name != OURS]


def _ratio_bounds(panel: Panel, rivals: Iterable[str], n_parts: int = 1) -> dict[str, Bounds] | None:
    """Return intervals of MedMamba's speed over each rival's, at their shares of the level; None if one is missing."""
    names = list(rivals)
    level = part_level(n_parts * len(names))
    found = {name: panel.ratio(name, level) for name in names if name in panel.records}
    known = {name: ratio for name, ratio in found.items() if ratio is not None}
    if len(known) < len(names):
        return None
    # Too few rounds for an interval at the level: anything is possible.
    return {name: Bounds(ratio.low or 0.0, ratio.high or inf, level) for name, ratio in known.items()}


def _faster(ratio: Bounds) -> Decision:
    """Decide whether MedMamba is faster."""
    return decide_above(ratio, 1.0)


def _either(first: Decision, second: Decision) -> Decision:
    """Decide whether at least one of two holds."""
    if Decision.SUPPORTED in (first, second):
        return Decision.SUPPORTED
    return Decision.CONTRADICTED if first is second is Decision.CONTRADICTED else Decision.UNDECIDED


def _shown_ratios(found: Mapping[str, Bounds]) -> str:
    texts = (f"{bounds.low:.2f} to {bounds.high:.2f} times {name}'s" for name, bounds in found.items())
    return f"speed {', '.join(texts)}"


def _place(panel: Panel) -> str:
    return f"width {panel.key.width}, batch {panel.throughput_batch}, {panel.key.device_name}"
