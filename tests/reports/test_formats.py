"""One table in four plain formats."""

import csv
import io
import json

import pytest

from bench.reports.formats import number, to_console, to_csv, to_json, to_markdown
from bench.reports.table import Block, Cell, Row, Table

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
    assert "PTB F1" in text
    assert "PTB-XL F1" in text
    assert "(1) seed 42 timeout" in text


def test_console_stars_the_best() -> None:
    assert "90.00±1.50*" in to_console(TABLE)


def test_csv_has_a_line_per_cell_with_full_numbers_and_notes() -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
    assert len(lines) == 4
    assert lines[0]["mean_percent"] == "90.0000"
    assert lines[1]["note"] == "seed 42 timeout"
    assert lines[1]["mean_percent"] == ""
    assert (lines[3]["group"], lines[3]["low_percent"]) == ("PTB-XL", "-1.0000")


def test_json_holds_the_same_numbers() -> None:
    content = json.loads(to_json(TABLE))
    cells = content["blocks"][1]["rows"][0]["cells"]
    assert cells == [{"mean": 80.1235, "mark": "second"}, {"mean": 1.0, "low": -1.0, "high": 2.0}]
    assert content["footnotes"] == ["seed 42 timeout"]
