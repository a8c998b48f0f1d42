"""What a terminal shows at the end: few lines, 80 columns, chance and what is attainable, the headline last."""

import json
from pathlib import Path

from bench.render.formats import to_terminal
from bench.report.contents import read_contents
from bench.report.section import in_brief
from bench.report.tables.main_results import attainable_rows
from tests.fixtures.results_folders import Grid, write_grid
from tests.report.tables.test_paper_tables import suite_of

SIX = ("ptb", "ptb-xl", "adftd", "apava", "sleep-edf", "uci-har")


def with_attainable(out: Path, f1: float) -> None:
    for path in (out / "cells").rglob("record.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        content["data"]["attainable"] = {"accuracy": 0.9, "f1": f1}
        path.write_text(json.dumps(content), encoding="utf-8")


def test_the_paper_grid_ends_in_60_lines_of_80_columns_with_the_headline_last(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(datasets=SIX, kind="simulated", preset="demo"))
    with_attainable(tmp_path, 0.875)
    brief = in_brief(read_contents(tmp_path).sections)
    lines = "\n".join(map(to_terminal, brief)).splitlines()
    assert len(lines) < 60
    assert max(map(len, lines)) <= 80
    assert brief[-1].title.startswith("Who wins where")
    scores, headline = brief
    last = scores.rows[-1]
    assert (last.label, {cell.mean for cell in last.cells}) == ("attainable", {87.5})
    assert scores.rows[-2].label == "chance"
    assert headline.columns[-1] == "attainable"
    assert "not interpretable" in headline.caption


def test_real_data_have_no_attainable_score_but_a_certainty(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("ptb",)))
    scores, headline = in_brief(read_contents(tmp_path).sections)
    assert scores.rows[-1].label == "chance"
    assert headline.columns[:2] == ("best", "F1")
    assert headline.columns[-1] == "how sure"
    assert attainable_rows(suite_of(tmp_path).studies[0].record) == ()
