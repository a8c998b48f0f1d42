"""The claims ledger as tables: each claim of the paper, its test, and the verdict computed from the records."""

from collections.abc import Iterable, Sequence

from bench.paper.claims import Entry, cell_claims, tally
from bench.render.table import Block, Cell, Row, Table

_CAPTION = (
    "Verdicts are computed: first from the paper's own numbers, then from records. Reproduced: at most one published "
    "standard deviation away, or every comparison as claimed; within bounds: at most two. Leads, losses and changes go "
    "by their own deviation over seeds, and are contradicted when measured with the other sign"
)


def claims_table(entries: Sequence[Entry], name: str) -> Table:
    """Return the claims of text, figures and captions by verdict, in the order of the paper within each.

    The printed cells of tables are counted in the caption.
    """
    cells = {claim.id for claim in cell_claims()}
    of_text = [entry for entry in entries if entry.claim.id not in cells]
    of_cells = [entry for entry in entries if entry.claim.id in cells]
    return Table(
        name=name,
        title="Claims of the paper",
        columns=("stated", "verdict", "evidence", "tested by"),
        blocks=tuple(
            Block(
                f"{verdict.value}: {number}",
                tuple(_row(claim) for claim in of_text if claim.ruling.verdict is verdict),
            )
            for verdict, number in tally(of_text).items()
            if number
        ),
        caption=(
            f"{len(of_text)} claims of text, figures and captions: {_counts(of_text)}. Besides these, {len(of_cells)} "
            f"printed cells of tables: {_counts(of_cells)}. {_CAPTION}."
        ),
        corner="Claim",
        widths=(0.27, 0.12, 0.12, 0.22, 0.20),
        unit="claim",
    )


def all_claims_table(entries: Sequence[Entry], name: str) -> Table:
    """Return every claim with its identifier, printed cells included; for CSV and JSON."""
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
        caption=f"{len(rows)} claims: {_counts(entries)}. {_CAPTION}.",
        corner="id",
        unit="claim",
    )


def _row(entry: Entry) -> Row:
    claim, ruling = entry.claim, entry.ruling
    texts = (claim.value, ruling.verdict.value, ruling.evidence, entry.command)
    return Row(f"{claim.text} [{claim.place}]", tuple(Cell(text=text) for text in texts))


def _counts(entries: Iterable[Entry]) -> str:
    return ", ".join(f"{number} {verdict.value}" for verdict, number in tally(entries).items() if number)
