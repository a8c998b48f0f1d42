"""The claims ledger: the paper's claims, their tests, and the verdicts computed so far.

`claims.toml` holds the claims of the text, the figures and the captions. Cells of tables are no claims of their own:
the reports have them beside the measured ones. A verdict is never stored. `judge` asks, in this order:

1. the paper's own numbers (`claim_checks.py`): a claim that they refute needs no experiment;
2. a judge of records, if the caller has one for what the claim needs;
3. else the claim is undecided for lack of records, or there is a reason why none can decide it.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from bench.paper.claim_checks import finding_of
from bench.paper.scale import Ruling, Verdict

NO_RECORDS = "no records yet"
BY_ARITHMETIC = "arithmetic"
"""The need of claims that the paper's own numbers decide."""


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, paraphrased.

    `check` names a function of `claim_checks.py` and holds its arguments; `about` holds the names and numbers
    that a judge of records compares; `command` is set if it is narrower than the command of `needs`.
    """

    id: str
    place: str
    text: str
    value: str
    kind: str
    needs: str
    about: Mapping[str, Any] = field(default_factory=dict)
    check: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""


@dataclass(frozen=True)
class Need:
    """The records that can decide a claim: the command that makes them, or why none can.

    `followed` is the reason why records can only show that we do as the paper says.
    """

    command: str
    unobtainable: str = ""
    followed: str = ""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    claim: Claim
    command: str
    ruling: Ruling


RecordJudge = Callable[[Claim], Ruling | None]
"""Rules on a claim from records; returns None if they do not touch it."""


def ledger(judges: Mapping[str, RecordJudge] | None = None) -> tuple[Entry, ...]:
    """Return every claim with its command and its verdict, in the order of the paper.

    `judges` maps a key of `needs()` (cells, ablation, efficiency, ...) to the judge of such records.
    """
    judges = judges or {}
    return tuple(
        Entry(claim, claim.command or needs()[claim.needs].command, judge(claim, judges.get(claim.needs)))
        for claim in text_claims()
    )


def tally(entries: Iterable[Entry]) -> dict[Verdict, int]:
    """Return how many entries have each verdict, all verdicts included, in the order of `Verdict`."""
    counts = Counter(entry.ruling.verdict for entry in entries)
    return {verdict: counts[verdict] for verdict in Verdict}


def judge(claim: Claim, records: RecordJudge | None = None) -> Ruling:
    """Return the verdict on one claim, from the paper's own numbers first and from records second."""
    finding = finding_of(claim.check) if claim.check else None
    if finding and not finding.holds:
        return Ruling(Verdict.CONTRADICTED, f"{finding.failure}: {finding.evidence}")
    if finding and claim.needs == BY_ARITHMETIC:
        return Ruling(Verdict.SUPPORTED, finding.evidence)
    ruling = records(claim) if records else None
    need = needs()[claim.needs]
    if ruling and need.followed and ruling.verdict is Verdict.UNDECIDED:
        return Ruling(Verdict.FOLLOWED, f"{need.followed}; {ruling.evidence}")
    if ruling:
        return ruling
    consistent = f"the paper's own numbers agree ({finding.evidence})" if finding else ""
    verdict, reason = _without_records(need)
    return Ruling(verdict, "; ".join(part for part in (reason, consistent) if part))


def _without_records(need: Need) -> tuple[Verdict, str]:
    if need.unobtainable:
        return Verdict.NOT_CHECKABLE, need.unobtainable
    if need.followed:
        return Verdict.FOLLOWED, f"{need.followed}; {NO_RECORDS}"
    return Verdict.UNDECIDED, NO_RECORDS


@cache
def needs() -> dict[str, Need]:
    """Return every `Need` by the key that claims use."""
    return {name: Need(**need) for name, need in _ledger_file()["needs"].items()}


@cache
def text_claims() -> tuple[Claim, ...]:
    """Return the claims of the text, the figures and the captions, in the order of the paper."""
    return tuple(Claim(**claim) for claim in _ledger_file()["claim"])


@cache
def _ledger_file() -> dict[str, Any]:
    """Return the parsed ledger; a malformed file is a defect of the package."""
    return tomllib.loads((files("bench.paper") / "claims.toml").read_text(encoding="utf-8"))
