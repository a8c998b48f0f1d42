"""Verdicts on the paper's numbers on channel mixing and correlations, from records of trained layers.

The paper gives no deviation, so ours over seeds is used; see `rulings.py` for the bounds.
"""

from collections.abc import Sequence

from bench.analyses.channel_mixing.record import NAME, ChannelMixingRecord
from bench.analyses.channel_mixing.report import (
    PAPER_CLASSES,
    PAPER_DATASET,
    Line,
    correlation_lines,
    distance_lines,
)
from bench.paper.claims import Claim, RecordJudge, Ruling
from bench.paper.names import OURS
from bench.paper.rulings import comparison_ruling, effect_ruling, unless_void
from bench.studies.suite import Suite

HALF_DIGIT = 0.05
"""Changes are printed in percent with one decimal."""


def judges(records: Sequence[ChannelMixingRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of claims about correlations before and after mixing."""
    return {NAME: ChannelMixingJudge(records)}


class ChannelMixingJudge:
    """Judges relative changes within and between classes, their signs, and which pair changes most."""

    def __init__(self, records: Sequence[ChannelMixingRecord]) -> None:
        wanted = [
            record
            for record in records
            if (record.cells.dataset, record.cells.model) == (PAPER_DATASET, OURS)
        ]
        self.void = wanted[0].cells.void if wanted else ""
        lines = [*correlation_lines(wanted[0]), *distance_lines(wanted[0])] if wanted else []
        self.lines = {frozenset(line.classes): line for line in lines}

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the layers were not analysed."""
        if "largest" in claim.about:
            ruling = self._largest(claim.about["largest"])
        elif "sign" in claim.about:
            ruling = self._signs(claim.about["sign"], claim.about["of"])
        else:
            ruling = self._change(claim.about["classes"], claim.about["change_percent"])
        return unless_void(ruling, self.void)

    def _change(self, classes: Sequence[str], stated: float) -> Ruling | None:
        line = self._line(classes)
        change = line.change if line else None
        if change is None or change[1] is None:
            return None
        return effect_ruling(change[0], stated, change[1], HALF_DIGIT)

    def _signs(self, sign: int, of: Sequence[Sequence[str]]) -> Ruling | None:
        """Test whether the mean change over seeds has the claimed sign for each class or pair."""
        lines = [self._line(classes) for classes in of]
        changes = {line.label: line.change[0] for line in lines if line and line.change}
        if len(changes) < len(of):
            return None
        evidence = ", ".join(f"{label} {change:+.1f} %" for label, change in changes.items())
        return comparison_ruling(all(sign * change > 0 for change in changes.values()), evidence)

    def _largest(self, classes: Sequence[str]) -> Ruling | None:
        largest = self._line(classes)
        pairs = {
            line.label: line.change[0] for key, line in self.lines.items() if len(key) == 2 and line.change
        }
        if largest is None or largest.label not in pairs:
            return None
        evidence = ", ".join(f"{label} {change:+.1f} %" for label, change in pairs.items())
        return comparison_ruling(pairs[largest.label] == max(pairs.values()), evidence)

    def _line(self, classes: Sequence[str]) -> Line | None:
        return self.lines.get(frozenset(PAPER_CLASSES[name] for name in classes))
