"""Verdict on the claim that channel dropout makes models robust to missing sensors."""

from collections.abc import Sequence

import numpy as np

from bench.analyses.missing_sensors.record import NAME, GroupRobustness, MissingSensorsRecord
from bench.analyses.missing_sensors.report import pairs
from bench.paper.claims import Claim, RecordJudge
from bench.paper.names import short_name
from bench.paper.scale import Ruling
from bench.stats.estimate import Estimate, mean_over_seeds
from bench.studies.interval_rulings import few_seeds_ruling, positive_ruling
from bench.studies.suite import Suite

PERCENT = 100.0


def judges(records: Sequence[MissingSensorsRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of the claim that channel dropout makes robust."""
    return {NAME: MissingSensorsJudge(records)}


class MissingSensorsJudge:
    """Judges dropout to make robust if F1 with it is higher on every dataset for every number of missing channels."""

    def __init__(self, records: Sequence[MissingSensorsRecord]) -> None:
        self.records = records

    def __call__(self, _claim: Claim) -> Ruling | None:
        """Return the verdict, or None where no two groups differ in channel dropout alone."""
        found = [
            (record, record.groups[on], record.groups[off])
            for record in self.records
            for on, off in pairs(record)
        ]
        if not found:
            return None
        if any(min(len(on.cells), len(off.cells)) < 2 for _, on, off in found):
            return few_seeds_ruling("F1 with and without channel dropout")
        gains = {
            f"{short_name(record.dataset)} without {number}": _gain(on, off, number)
            for record, on, off in found
            for number in record.numbers
            if number
        }
        void = {group.about.void for _, *groups in found for group in groups} - {""}
        return positive_ruling("gains of F1 by dropout, channels missing", gains).unless(
            "; ".join(sorted(void))
        )


def _gain(on: GroupRobustness, off: GroupRobustness, number: int) -> Estimate:
    """Return F1 with dropout minus F1 without over seeds, in percentage points; seeds of two models share nothing."""
    first, second = (
        mean_over_seeds(PERCENT * np.array([cell.with_missing(number) for cell in group.cells]))
        for group in (on, off)
    )
    return first.minus(second)
