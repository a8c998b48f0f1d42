"""Verdicts on the paper's centralization table, from records under every reading of the two indices.

The paper names no reading. A number is reproduced only when one reading gives the whole table, and contradicted only
where no reading comes near it.
"""

from collections.abc import Sequence
from typing import Literal

from bench.analyses.centralization.one_reading import best_reading
from bench.analyses.centralization.record import NAME, CentralizationRecord, Index
from bench.analyses.centralization.report import CLOSE
from bench.paper import published
from bench.paper.claim_checks import HALF_DIGIT, Verdict
from bench.paper.claims import Claim, RecordJudge, Ruling
from bench.paper.rulings import by_distance, comparison_ruling, unless_void
from bench.studies.suite import Suite

_Number = Literal["mean", "low", "high"]


def judges(records: Sequence[CentralizationRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of claims about the two indices."""
    return {NAME: CentralizationJudge(records)}


class CentralizationJudge:
    """Judges indices of single datasets, and whether medical signals are more centralized; only whole data decide."""

    def __init__(self, records: Sequence[CentralizationRecord]) -> None:
        self.records = {record.dataset: record for record in records}
        self.best = best_reading(records)

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the dataset was not analysed."""
        if "index" in claim.about:
            return self._number(**claim.about)
        if "intervals_above" in claim.about:
            return self._comparison(claim.about["intervals_above"], "low", "high")
        return self._comparison(claim.check["reference"], "mean", "mean")

    def _number(self, dataset: str, index: Index, value: float) -> Ruling | None:
        record = self.records.get(dataset)
        found = [measure for measure in record.measures if measure.choice.index == index] if record else []
        if record is None or not found:
            return None
        nearest = min(found, key=lambda candidate: abs(candidate.mean - value))
        off = abs(nearest.mean - value)
        evidence = (
            f"nearest of {len(found)} readings: {nearest.mean:.3f} ({nearest.choice.label}), stated {value:.2f}; "
            f"{self._by_one_reading(dataset, index)}"
        )
        void = "" if record.kind == "whole" else f"{record.kind} data"
        verdict = by_distance(off, HALF_DIGIT, CLOSE)
        if verdict is Verdict.REPRODUCED and not (self.best and self.best.gives_the_table):
            verdict = Verdict.WITHIN_BOUNDS
        return unless_void(Ruling(verdict, evidence), void)

    def _by_one_reading(self, dataset: str, index: Index) -> str:
        """Describe how many printed values the best single reading gives, and whether this is one of them."""
        if self.best is None:
            return "no reading was measured in both indices"
        also = "this one too" if (dataset, index) in self.best.given else "this one needs another reading"
        return (
            f"one reading for both indices gives at most {len(self.best.given)} of {self.best.n_cells} cells "
            f"({self.best.label}), {also}"
        )

    def _comparison(self, reference: str, ours: _Number, others: _Number) -> Ruling | None:
        """Test whether every medical dataset is above the reference in both indices, by one unit and scaling.

        ``ours`` and ``others`` name the compared number of the medical datasets and of the reference.
        """
        medical = [row.dataset for row in published.centralization() if row.domain == "medical"]
        if reference not in self.records or not set(medical) & self.records.keys():
            return None
        holding, n_readings = [], 0
        for base in self.records[reference].measures:
            values = {
                name: value
                for name in medical
                if name in self.records
                and (found := self.records[name].measure(base.choice)) is not None
                and (value := getattr(found, ours)) is not None
            }
            bar = getattr(base, others)
            if not values or bar is None:
                continue
            n_readings += 1
            if min(values.values()) > bar:
                holding.append(base.choice)
        if not n_readings:
            return None
        what = "all" if ours == others else "all intervals"
        evidence = f"{what} above {reference} under {len(holding)} of {n_readings} readings"
        used = [self.records[name] for name in (*medical, reference) if name in self.records]
        missing = [name for name in medical if name not in self.records]
        part = [f"{record.dataset} is {record.kind}" for record in used if record.kind != "whole"]
        part += [f"{name} was not analysed" for name in missing]
        of_index = {
            index: {(choice.unit, choice.scaling) for choice in holding if choice.index == index}
            for index in ("sci", "dic")
        }
        both = bool(of_index["sci"] & of_index["dic"])
        return unless_void(comparison_ruling(both, evidence), ", ".join(part))
