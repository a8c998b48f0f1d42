"""Verdicts on the paper's propositions, from the record of their checks.

A check is a construction or a count, with which chance has nothing to do, unless it has to be learned: a network that
fails to learn refutes nothing. If a check was made on several datasets, those comparable with the paper decide.
"""

from collections.abc import Sequence

from bench.analyses.theory.record import NAME, Check, TheoryRecord
from bench.paper.claims import Claim, RecordJudge
from bench.paper.scale import Ruling, Verdict
from bench.studies.suite import Suite

LEARNED = {"5a", "5b"}
"""Checks that hold only if a network learns what the proposition says can be represented."""


def judges(records: Sequence[TheoryRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of the propositions."""
    return {NAME: TheoryJudge(records)}


class TheoryJudge:
    """Judges a proposition to be supported when each of its checks holds."""

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
            return Ruling(Verdict.UNDECIDED, _evidence(found)).unless("; ".join(void))
        failing = {check.number for check in decisive if check.verdict != "holds"}
        if failing and failing <= LEARNED:
            return Ruling(Verdict.UNDECIDED, _evidence(decisive)).unless("a network that did not learn it")
        return Ruling(Verdict.of(not failing), _evidence(decisive))


def _evidence(checks: Sequence[Check]) -> str:
    return "; ".join(f"{check.number}, {check.about}: {check.verdict}: {check.result}" for check in checks)
