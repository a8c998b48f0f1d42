"""The five verdicts on a claim of the paper, and how the verdicts on its parts make one."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The possible verdicts, worst first; the first three are the words of `bench.stats.verdict.Decision`."""

    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    SUPPORTED = "supported"
    NOT_CHECKABLE = "not checkable"
    FOLLOWED = "followed here"
    """We do as the paper says, so that a run can neither confirm nor refute it; outside every tally."""

    @classmethod
    def of(cls, holds: bool) -> "Verdict":
        """Return the verdict on what is counted, not estimated: chance has no part in it."""
        return cls.SUPPORTED if holds else cls.CONTRADICTED


@dataclass(frozen=True)
class Ruling:
    """A verdict and the numbers or the reason behind it."""

    verdict: Verdict
    evidence: str

    def unless(self, reason: str) -> "Ruling":
        """Return the ruling, or an undecided one if there is a reason against its records."""
        if not reason:
            return self
        return Ruling(Verdict.UNDECIDED, f"{self.evidence}; not decisive: {reason}")


@dataclass(frozen=True)
class Finding:
    """Whether the paper's own numbers bear a claim out, these numbers, and what it means if they do not."""

    holds: bool
    evidence: str
    failure: str = "by the paper's own numbers"


_FIRST = (Verdict.CONTRADICTED, Verdict.NOT_CHECKABLE, Verdict.UNDECIDED)


def all_hold(rulings: Sequence[Ruling]) -> Ruling:
    """Rule on a claim of several parts, each of which must hold; one contradicted part contradicts it."""
    found = {ruling.verdict for ruling in rulings}
    verdict = next((verdict for verdict in _FIRST if verdict in found), Verdict.SUPPORTED)
    return Ruling(verdict, "; ".join(ruling.evidence for ruling in rulings))
