"""Verdicts on the paper's numbers on channel mixing and correlations, from records of trained layers.

The paper gives no deviation, so ours over seeds stands for theirs, too.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from bench.analyses.channel_mixing.record import NAME, ChannelMixingRecord
from bench.analyses.channel_mixing.report import (
    PAPER_CLASSES,
    PAPER_DATASET,
    Line,
    correlation_lines,
    distance_lines,
)
from bench.paper.claims import Claim, RecordJudge
from bench.paper.names import OURS
from bench.paper.scale import Ruling
from bench.stats.estimate import mean_over_seeds
from bench.studies.interval_rulings import effect_ruling, few_seeds_ruling, parts_ruling, positive_ruling
from bench.studies.suite import Suite

HALF_DIGIT = 0.05
"""Changes are printed in percent with one decimal."""


def judges(records: Sequence[ChannelMixingRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of claims about correlations before and after mixing."""
    return {NAME: ChannelMixingJudge(records)}


class ChannelMixingJudge:
    """Judges relative changes within and between classes with their signs, and which pair changes most."""

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
        if not self.lines:
            return None
        if any(len(line.known_changes) < 2 for line in self.lines.values()):
            return few_seeds_ruling("changes by channel mixing")
        if "largest" in claim.about:
            return self._largest(claim.about["largest"]).unless(self.void)
        changes: dict[str, float] = claim.about["changes_percent"]
        parts = [partial(self._change, names.split(), stated) for names, stated in changes.items()]
        return parts_ruling(parts).unless(self.void)

    def _change(self, classes: Sequence[str], stated: float, level: float) -> Ruling:
        line = self._line(classes)
        changes = np.array(line.known_changes)
        std = max(float(changes.std(ddof=1)), HALF_DIGIT)
        ruling = effect_ruling(mean_over_seeds(changes), stated, [std], HALF_DIGIT, level)
        return Ruling(ruling.verdict, f"{line.label}: {ruling.evidence}")

    def _largest(self, classes: Sequence[str]) -> Ruling:
        """Compare a pair's change with every other pair's, seed by seed: they are of the same networks."""
        largest = self._line(classes)
        gaps = {
            f"over {line.label}": mean_over_seeds(np.array(_paired(largest, line)))
            for key, line in self.lines.items()
            if len(key) == 2 and line is not largest
        }
        return positive_ruling(f"percent that {largest.label} changes more", gaps)

    def _line(self, classes: Sequence[str]) -> Line:
        return self.lines[frozenset(PAPER_CLASSES[name] for name in classes)]


def _paired(first: Line, second: Line) -> list[float]:
    """Return the first change minus the second, in percent, of each seed that has both."""
    pairs = zip(first.sides, second.sides, strict=True)
    changes = [(mine.change_percent, others.change_percent) for mine, others in pairs]
    return [mine - others for mine, others in changes if mine is not None and others is not None]
