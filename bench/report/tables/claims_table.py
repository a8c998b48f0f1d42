"""The claims ledger as tables: each claim of the paper, its test, and the verdict computed from the records."""

from collections.abc import Iterable, Sequence

from bench.paper.claims import Entry, tally
from bench.paper.scale import Verdict
from bench.render.table import Block, Cell, Row, Table

_CAPTION = (
    "Verdicts are computed: first from the paper's own numbers, then from records, by intervals that include our and "
    "the published variance between seeds. Supported: the claim is true for every value of the interval; contradicted: "
    "it is false for every value; undecided: true for some values and false for others, or there are no comparable "
    "records. Followed here: this package does as the paper says, so a run can neither support nor contradict it. "
    "Error rates: docs/statistics.md"
)


def claims_table(entries: Sequence[Entry], name: str) -> Table:
    """Return the claims by verdict, worst first, in the order of the paper within each."""
    return Table(
        name=name,
        title="Claims of the paper",
        columns=("stated", "verdict", "evidence", "tested by"),
        blocks=tuple(
            Block(
                f"{verdict.value}: {number}",
                tuple(_row(entry) for entry in entries if entry.ruling.verdict is verdict),
            )
            for verdict, number in tally(entries).items()
            if number
        ),
        caption=f"{_counts(entries)}. {_CAPTION}.",
        corner="Claim",
        widths=(0.27, 0.12, 0.12, 0.22, 0.20),
        unit="claim",
    )


def all_claims_table(entries: Sequence[Entry], name: str) -> Table:
    """Return every claim with its identifier and place in columns of their own; for CSV and JSON."""
    rows = tuple(
        Row(
            entry.claim.id,
            tuple(
                Cell(text=text)
                for text in (
                    entry.claim.place,
                    entry.claim.text,
                    entry.claim.value,
                    entry.ruling.verdict.value,
                    entry.ruling.evidence,
                    entry.command,
                )
            ),
        )
        for entry in entries
    )
    return Table(
        name=name,
        title="Every claim of the paper",
        columns=("place", "claim", "stated", "verdict", "evidence", "tested by"),
        blocks=(Block("", rows),),
        caption=f"{_counts(entries)}. {_CAPTION}.",
        corner="id",
        unit="claim",
    )


def _row(entry: Entry) -> Row:
    claim, ruling = entry.claim, entry.ruling
    texts = (claim.value, ruling.verdict.value, ruling.evidence, entry.command)
    return Row(f"{claim.text} [{claim.place}]", tuple(Cell(text=text) for text in texts))


def _counts(entries: Iterable[Entry]) -> str:
    """Return how many claims have each verdict; those that are merely followed are told apart."""
    numbers = tally(entries)
    n_followed = numbers.pop(Verdict.FOLLOWED)
    counted = ", ".join(f"{number} {verdict.value}" for verdict, number in numbers.items() if number)
    n_judged = sum(numbers.values())
    return f"{n_judged} claims of text, figures and captions: {counted}; {n_followed} more are followed here"
