"""Verdict on the claim that channel dropout makes models robust to missing sensors."""

from collections.abc import Sequence

from bench.analyses.missing_sensors.record import NAME, GroupRobustness, MissingSensorsRecord
from bench.analyses.missing_sensors.report import pairs
from bench.paper.claims import Claim, RecordJudge, Ruling
from bench.paper.names import short_name
from bench.paper.rulings import comparison_ruling, unless_void
from bench.stats.summary import over_seeds
from bench.studies.suite import Suite


def judges(records: Sequence[MissingSensorsRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of the claim that channel dropout makes robust."""
    return {NAME: MissingSensorsJudge(records)}


class MissingSensorsJudge:
    """Judges dropout to make robust if F1 with it is higher on every dataset for every number of missing channels."""

    def __init__(self, records: Sequence[MissingSensorsRecord]) -> None:
        self.records = records

    def __call__(self, _claim: Claim) -> Ruling | None:
        """Return the verdict, or None where no two groups differ in channel dropout alone."""
        gains: list[float] = []
        texts, void = [], set()
        for record in self.records:
            for on, off in pairs(record):
                first, second = record.groups[on], record.groups[off]
                found = {number: _gain(first, second, number) for number in record.numbers if number}
                known = {number: gain for number, gain in found.items() if gain is not None}
                gains.extend(known.values())
                shown = ", ".join(f"{gain:+.1f} without {number}" for number, gain in known.items())
                texts.append(f"{short_name(record.dataset)}: {shown or 'no seed in common'}")
                void |= {group.about.void for group in (first, second)} - {""}
        if not gains:
            return None
        evidence = f"points of F1 that dropout gains with channels missing: {'; '.join(texts)}"
        return unless_void(comparison_ruling(min(gains) > 0, evidence), "; ".join(sorted(void)))


def _gain(on: GroupRobustness, off: GroupRobustness, number: int) -> float | None:
    """Return the mean over shared seeds of F1 with dropout minus F1 without, in percentage points."""
    others = {cell.seed: cell.with_missing(number) for cell in off.cells}
    found = over_seeds(
        [cell.with_missing(number) - others[cell.seed] for cell in on.cells if cell.seed in others]
    )
    return None if found is None else 100 * found[0]
