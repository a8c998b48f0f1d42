"""Verdicts on the paper's propositions, from the record of their checks.

If a check was made on several datasets, those comparable with the paper decide.
"""

from collections.abc import Sequence

from bench.analyses.theory.record import NAME, Check, TheoryRecord
from bench.paper.claims import Claim, RecordJudge, Ruling
from bench.paper.rulings import comparison_ruling, void_ruling
from bench.studies.suite import Suite


def judges(records: Sequence[TheoryRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of the propositions."""
    return {NAME: TheoryJudge(records)}


class TheoryJudge:
    """Judges a proposition to be reproduced when each of its checks holds."""

    def __init__(self, records: Sequence[TheoryRecord]) -> None:
        self.checks = [check for record in records for check in record.checks]

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where nothing was checked."""
        wanted = claim.about["checks"]
        found = [check for check in self.checks if check.number in wanted and check.verdict != "not checked"]
        if {check.number for check in found} != set(wanted):
            return None
        decisive = [check for check in found if not check.void]
        if {check.number for check in decisive} != set(wanted):
            void = sorted({check.void for check in found if check.void})
            return void_ruling(_evidence(found), "; ".join(void))
        return comparison_ruling(all(check.verdict == "holds" for check in decisive), _evidence(decisive))


def _evidence(checks: Sequence[Check]) -> str:
    return "; ".join(f"{check.number}, {check.about}: {check.verdict}: {check.result}" for check in checks)
