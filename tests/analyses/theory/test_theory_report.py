"""The propositions as text, table and figures."""

from pathlib import Path

import pytest

from bench.analyses import store
from bench.analyses.runner import shown
from bench.analyses.theory.record import ANALYSIS, Check, Curve, TheoryRecord, verdict
from bench.analyses.theory.report import theory_figures, theory_table, to_text
from bench.render.style import figure_style
from tests.analyses.analysed_cells import analysed

LINE = Curve(panel="p", label="line", x=(1.0, 2.0), y=(3.0, 4.0), low=(2.0, 3.0), high=(4.0, 5.0))


def check(number: str, *curves: Curve) -> Check:
    return Check(
        number=number,
        about="adftd",
        claim="it is so",
        checked="whether it is",
        on="numbers",
        result="it is 0.5",
        verdict="holds",
        curves=curves,
    )


def record_of(*checks: Check) -> TheoryRecord:
    return TheoryRecord(schema=1, created="2026-01-01T00:00:00+00:00", seed=41, checks=checks)


def test_text_has_every_part() -> None:
    assert to_text(record_of(check("4"))).splitlines() == [
        "4 Cost of the scans: adftd",
        "  claim    it is so",
        "  checked  whether it is",
        "  on       numbers",
        "  result   it is 0.5",
        "  verdict  holds",
    ]


def test_table_has_a_row_for_each_check() -> None:
    table = theory_table(record_of(check("1a"), check("2a")))
    assert [row.label for row in table.rows] == ["1a", "2a"]
    assert table.rows[0].cells[-1].text == "holds"
    assert len(table.widths) == len(table.columns) + 1


def test_caption_says_what_the_trained_cells_saw(tmp_path: Path) -> None:
    cells = analysed(tmp_path, "adftd")
    simulated = cells.model_copy(
        update={"dataset": "ptb", "data": cells.data.model_copy(update={"kind": "simulated"})}
    )
    record = record_of(check("1a")).model_copy(update={"cells": (cells, simulated)})
    caption = theory_table(record).caption
    assert "Trained on PTB: SIMULATED data" in caption
    assert "Trained on ADFTD: whole dataset" in caption


def test_checks_with_curves_have_figures_of_different_names() -> None:
    other = check("1a", LINE).model_copy(update={"about": "ptb"})
    figures = theory_figures([check("1a", LINE), other, check("2a", LINE), check("3b")])
    assert [one.name for one in figures] == ["theory-1a-adftd", "theory-1a-ptb", "theory-2a"]
    assert [figure.stamp for figure in figures] == ["ADFTD", "PTB", ""]


@pytest.mark.parametrize("number", ["1a", "2a", "3a", "4"])
def test_figures_draw_a_panel_per_quantity(number: str) -> None:
    other = LINE.model_copy(update={"panel": "q", "low": (), "high": ()})
    with figure_style():
        figure = theory_figures([check(number, LINE, other)])[0].draw()
    assert [axes.get_title() for axes in figure.axes] == ["p", "q"]


def test_read_outs_are_named_on_the_axis() -> None:
    dots = [
        Curve(panel="accuracy", label=f"{core}: reading {x}", x=(float(x),) * 2, y=(0.7, 0.8))
        for x in (0, 1)
        for core in ("bidirectional", "forward-only")
    ]
    bound = Curve(panel="accuracy", label="bound", x=(0.0, 1.0), y=(0.75, 0.75))
    with figure_style():
        (axes,) = theory_figures([check("5a", *dots, bound)])[0].draw().axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["reading 0", "reading 1"]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "bidirectional",
        "forward-only",
        "bound: 0.75",
    ]


def test_report_reads_the_record(tmp_path: Path) -> None:
    store.write(tmp_path, ANALYSIS, record_of(check("4", LINE)))
    found = shown(ANALYSIS, tmp_path, print)
    tables, figures = found.tables, found.figures
    assert ([one.name for one in tables], [one.name for one in figures]) == (["theory"], ["theory-4"])


def test_verdict_follows_from_what_was_measured() -> None:
    assert (verdict(True), verdict(False)) == ("holds", "does not hold here")
