"""The report on the propositions: every check as a paragraph and as a table row, with figures of checks with curves."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.analyses.contract import Shown
from bench.analyses.theory.figures import draw
from bench.analyses.theory.record import NAME, Check, TheoryRecord
from bench.paper.names import short_name
from bench.render.figure import Figure
from bench.render.table import Block, Cell, Row, Table
from bench.studies import kinds
from bench.studies.caption import numbers

_TITLES = {
    "1": "Noise suppression by channel mixing",
    "2": "The best whitened mixer",
    "3": "Mismatch of scales",
    "4": "Cost of the scans",
    "5": "Symmetric context",
}


def report(_out: Path, records: Sequence[TheoryRecord]) -> Shown:
    """Return the table and the figures; the text describes every check in full."""
    return Shown(
        [theory_table(record) for record in records],
        [figure for record in records for figure in theory_figures(record.checks)],
        "\n\n".join(map(to_text, records)),
    )


def to_text(record: TheoryRecord) -> str:
    """Return every check as a paragraph: claim, test, data, result, verdict."""
    return "\n\n".join(_paragraph(check) for check in record.checks)


def theory_table(record: TheoryRecord) -> Table:
    """Return all checks, one row each."""
    rows = tuple(_row(check) for check in record.checks)
    return Table(
        name=NAME,
        title="Tests of the paper's propositions",
        columns=("claim", "checked", "on", "result", "verdict"),
        blocks=(Block("", rows),),
        caption=(
            "Numbers follow the paper's statements in section Method. 'Holds' and 'does not hold here' follow from the "
            f"numbers by the rule in the column 'checked'. Draws start from seed {record.seed}.{_cells(record)}"
        ),
        corner="No.",
        widths=(0.03, 0.19, 0.21, 0.14, 0.24, 0.07),
    )


def _cells(record: TheoryRecord) -> str:
    """Describe data and settings of the trained cells; empty if there are none."""
    alike: dict[str, list[str]] = {}
    for cell in record.cells:
        changed = f", changed: {cell.changes}" if cell.changes else ""
        about = f"{kinds.sentence(cell.data)}; recipe {cell.recipe}{changed}, seeds {numbers(cell.seeds)}"
        alike.setdefault(about, []).append(short_name(cell.dataset))
    return "".join(f" Trained on {', '.join(names)}: {about}." for about, names in alike.items())


def theory_figures(checks: Sequence[Check]) -> list[Figure]:
    """Return a figure for every check that has curves."""
    return [_figure(check) for check in checks if check.curves]


def _figure(check: Check) -> Figure:
    name = f"{NAME}-{check.number}" + (f"-{check.about}" if check.number == "1a" else "")
    bands = " Bands: quartiles over points and seeds." if any(curve.low for curve in check.curves) else ""
    return Figure(
        name=name,
        title=f"{_TITLES[check.number[0]]}: {check.about}",
        caption=f"{check.claim} Checked on {check.on}. Result: {check.result}. Verdict: {check.verdict}.{bands}",
        alt=f"{_TITLES[check.number[0]]}. {check.result}.",
        draw=partial(draw, check),
        stamp=_stamp(check),
    )


def _stamp(check: Check) -> str:
    """Name the dataset where a check has one of its own; the panels of other checks say what they are computed on."""
    if check.number == "1a":
        return kinds.stamp(short_name(check.about), check.kind)
    return kinds.STAMPS[check.kind]


def _row(check: Check) -> Row:
    texts = (check.claim, check.checked, check.on, check.result, check.verdict)
    return Row(check.number, tuple(Cell(text=text) for text in texts))


def _paragraph(check: Check) -> str:
    return "\n".join(
        [
            f"{check.number} {_TITLES[check.number[0]]}: {check.about}",
            f"  claim    {check.claim}",
            f"  checked  {check.checked}",
            f"  on       {check.on}",
            f"  result   {check.result}",
            f"  verdict  {check.verdict}",
        ]
    )
