"""One table in four plain formats."""

import csv
import io
import json
from dataclasses import replace

import pytest

from bench.render.formats import number, to_console, to_csv, to_json, to_markdown
from bench.render.table import Block, Cell, Row, Table

TABLE = Table(
    name="example",
    title="Example",
    columns=("F1", "F1"),
    blocks=(
        Block("measured", (Row("ours", (Cell(90.0, 1.5, "best"), Cell(note=1))),)),
        Block("other", (Row("a|b", (Cell(80.123456, mark="second"), Cell(1.0, low=-1.0, high=2.0))),)),
    ),
    caption="Percent.",
    footnotes=("seed 42 timeout",),
    groups=(("PTB", 1), ("PTB-XL", 1)),
)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (Cell(), "--"),
        (Cell(note=1), "n/a"),
        (Cell(text="void"), "void"),
        (Cell(90.0), "90.00"),
        (Cell(90.0, 1.5), "90.00±1.50"),
        (Cell(1.0, low=-1.0, high=2.0), "1.00 [-1.00, 2.00]"),
        (Cell(-0.001), "0.00"),
    ],
)
def test_what_a_cell_shows(cell: Cell, shown: str) -> None:
    assert number(cell, 2) == shown


def test_markdown_marks_escapes_and_names_groups() -> None:
    text = to_markdown(TABLE)
    assert "**90.00±1.50**" in text
    assert "<u>80.12</u>" in text
    assert "PTB: F1" in text
    assert "PTB-XL: F1" in text
    assert "n/a (1)" in text
    assert "(1) seed 42 timeout" in text
    assert "| a\\|b " in text


@pytest.mark.parametrize("name", ["<script>", "*bold*", "[link](x)", "a|b", "`code`"])
def test_markdown_shows_what_people_wrote_and_never_runs_it(name: str) -> None:
    cell = Cell(text=name)
    table = Table(name, name, (name,), (Block(name, (Row(name, (cell,)),)),), name, (name,), corner=name)
    escaped = "".join(f"\\{one}" if one in "\\`*_<>[]|" else one for one in name)
    text = to_markdown(table)
    assert text.replace(escaped, "").count(name) == 0
    assert text.count(escaped) == 8


def test_console_names_groups_above_columns_of_other_names() -> None:
    table = replace(TABLE, columns=("F1", "recall"), groups=(("published", 1), ("", 1)))
    lines = to_console(table).splitlines()
    assert lines[1].split() == ["published"]
    assert lines[2].split() == ["model", "F1", "recall"]


def test_console_stars_the_best() -> None:
    assert "90.00±1.50*" in to_console(TABLE)


def test_only_footnotes_that_cells_name_have_a_number() -> None:
    table = replace(TABLE, footnotes=(*TABLE.footnotes, "nine test subjects"))
    for text in (to_markdown(table), to_console(table)):
        assert text.splitlines()[-2:] == ["(1) seed 42 timeout", "Note: nine test subjects"]


def test_csv_has_a_line_per_cell_with_full_numbers_and_notes() -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
    assert len(lines) == 4
    assert (lines[0]["mean"], lines[0]["unit"]) == ("90.0", "percent")
    assert lines[1]["note"] == "seed 42 timeout"
    assert (lines[1]["mean"], lines[1]["unit"]) == ("", "")
    assert (lines[3]["group"], lines[3]["low"]) == ("PTB-XL", "-1.0")


def test_json_holds_the_same_numbers() -> None:
    content = json.loads(to_json(TABLE))
    cells = content["blocks"][1]["rows"][0]["cells"]
    assert cells == [{"mean": 80.1235, "mark": "second"}, {"mean": 1.0, "low": -1.0, "high": 2.0}]
    assert content["footnotes"] == ["seed 42 timeout"]


def test_small_numbers_keep_their_digits_and_cells_their_unit() -> None:
    cells = (Cell(0.000672123456), Cell(2.5, unit="rank"))
    table = Table("t", "T", ("a", "b"), (Block("", (Row("r", cells),)),), "c", unit="GFLOP")
    lines = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert [(line["mean"], line["unit"]) for line in lines] == [("0.000672123", "GFLOP"), ("2.5", "rank")]
    row = json.loads(to_json(table))["blocks"][0]["rows"][0]["cells"]
    assert row == [{"mean": 0.000672123}, {"mean": 2.5, "unit": "rank"}]


def test_a_long_heading_of_a_block_widens_no_column_of_the_console() -> None:
    heading = "UCI-HAR (6 classes, SIMULATED), recipe medmamba, changed: d_model=16, epochs=1, n_layers=1, seeds 41, 42"
    lines = to_console(
        replace(TABLE, blocks=(Block(heading, TABLE.blocks[0].rows), TABLE.blocks[1]))
    ).splitlines()
    assert max(map(len, lines)) <= 80
    place = lines.index("other")
    assert heading == " ".join(lines[place - 3 : place - 1])
    assert lines[place - 1].startswith("ours ")
    assert lines[place + 1].startswith("a|b ")
