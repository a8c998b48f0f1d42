"""Verdicts on the paper's centralization table, from records under every reading of the two indices.

The paper names no reading. A comparison is decided only if every reading decides it alike, and the table can come from
one computation only if one reading gives all of its numbers.
"""

from collections.abc import Iterable, Sequence

from bench.analyses.centralization.one_reading import best_reading
from bench.analyses.centralization.record import NAME, CentralizationRecord, Index, Measure
from bench.paper import published
from bench.paper.claims import Claim, RecordJudge
from bench.paper.published import HALF_DIGIT
from bench.paper.scale import Ruling, Verdict
from bench.stats.estimate import LEVEL, Bounds
from bench.stats.verdict import Decision, decide_above, decide_all
from bench.studies.suite import Suite

INDICES: tuple[Index, ...] = ("sci", "dic")


def judges(records: Sequence[CentralizationRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of claims about the two indices."""
    return {NAME: CentralizationJudge(records)}


class CentralizationJudge:
    """Judges whether medical signals are more centralized, and whether one reading gives the table."""

    def __init__(self, records: Sequence[CentralizationRecord]) -> None:
        self.records = {record.dataset: record for record in records}
        self.best = best_reading(records)

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the datasets were not analysed."""
        ruling = self._one_reading() if "one_reading" in claim.about else self._above(claim.about["above"])
        return ruling and ruling.unless(self._against())

    def _one_reading(self) -> Ruling | None:
        """Rule that one reading gives every printed number of both indices, to its last digit."""
        best = best_reading(list(self.records.values()))
        if best is None:
            return None
        printed = [row for row in published.centralization() if row.dataset in self.records]
        found = [self._given(row.dataset, index, getattr(row, index)) for row in printed for index in INDICES]
        unmet = sum(not measures for measures in found)
        evidence = (
            f"one reading for both indices ({best.label}) gives {len(best.given)} of {best.n_cells} printed "
            f"numbers; no reading gives {unmet}"
        )
        scalings = {measure.choice.scaling for measures in found for measure in measures}
        if scalings:
            evidence += f"; those that give any are of signals {', '.join(sorted(scalings))}"
        if not best.lacking:
            return Ruling(Verdict.SUPPORTED, evidence)
        # A number that no reading gives may come from one that was not tried.
        return Ruling(Verdict.UNDECIDED if unmet else Verdict.CONTRADICTED, evidence)

    def _given(self, dataset: str, index: Index, value: float) -> list[Measure]:
        """Return the measures of an index that round to a printed value."""
        return [
            measure
            for measure in self.records[dataset].measures
            if measure.choice.index == index and abs(measure.mean - value) <= HALF_DIGIT
        ]

    def _above(self, reference: str) -> Ruling | None:
        """Rule that every medical dataset is above the reference in both indices, under every reading."""
        medical = [name for name in _medical() if name in self.records]
        if reference not in self.records or not medical:
            return None
        decisions: list[Decision] = []
        for base in self.records[reference].measures:
            found = [self.records[name].measure(base.choice) for name in medical]
            known = [measure for measure in found if measure is not None]
            if known:
                decisions.append(decide_all(_decided(measure, base) for measure in known))
        if not decisions:
            return None
        counts = {decision: decisions.count(decision) for decision in Decision}
        shown = ", ".join(f"{decision} under {number}" for decision, number in counts.items())
        evidence = f"all intervals above {reference}'s, of {len(decisions)} readings: {shown}"
        alike = decisions[0] if len(set(decisions)) == 1 else Decision.UNDECIDED
        return Ruling(Verdict(alike), evidence)

    def _against(self) -> str:
        """Return what keeps the records from being those of the paper's whole table."""
        wanted = [row.dataset for row in published.centralization()]
        part = [
            f"{name} is {self.records[name].kind}"
            for name in wanted
            if name in self.records and self.records[name].kind != "whole"
        ]
        return ", ".join(part + [f"{name} was not analysed" for name in wanted if name not in self.records])


def _medical() -> Iterable[str]:
    return (row.dataset for row in published.centralization() if row.domain == "medical")


def _decided(measure: Measure, base: Measure) -> Decision:
    """Decide whether one mean is above another, by intervals that do not touch."""
    if measure.low is None or measure.high is None or base.low is None or base.high is None:
        return Decision.UNDECIDED
    # Of two independent means these bounds hold the difference more often than their level says.
    difference = Bounds(measure.low - base.high, measure.high - base.low, LEVEL)
    return decide_above(difference, 0.0)
