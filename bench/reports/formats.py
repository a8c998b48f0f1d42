"""Tables as markdown, console text, CSV and JSON, all from the same data; LaTeX is in `latex.py`."""

import csv
import io
import json
from collections.abc import Callable

from tabulate import tabulate

from bench.reports.table import Cell, Table


def number(cell: Cell, digits: int, sign: str = "±") -> str:
    """Return what a cell shows, without its mark and its note; two hyphens where there is nothing."""
    if cell.text is not None:
        return cell.text
    if cell.mean is None:
        return "--"
    mean = _fixed(cell.mean, digits)
    if cell.low is not None and cell.high is not None:
        return f"{mean} [{_fixed(cell.low, digits)}, {_fixed(cell.high, digits)}]"
    return mean if cell.std is None else f"{mean}{sign}{_fixed(cell.std, digits)}"


def _fixed(value: float, digits: int) -> str:
    """Return a number with fixed decimals, without a minus before zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def to_markdown(table: Table) -> str:
    """Return a pipe table under a heading; best in bold, second underlined."""

    def show(cell: Cell) -> str:
        text = number(cell, table.digits).replace("|", "\\|")
        text = {"best": f"**{text}**", "second": f"<u>{text}</u>", "": text}[cell.mark]
        return text if cell.note is None else f"{text} ({cell.note})"

    rows = _grid(table, show, "*{}*")
    text = tabulate(rows, _headings(table, table.corner), tablefmt="pipe", disable_numparse=True)
    return f"### {table.title}\n\n{text}\n\n{table.caption}\n{_footnotes(table)}"


def to_console(table: Table) -> str:
    """Return a plain table; a star marks the best of those that may be compared."""

    def show(cell: Cell) -> str:
        text = number(cell, table.digits) + ("*" if cell.mark == "best" else "")
        return text if cell.note is None else f"{text} ({cell.note})"

    rows = _grid(table, show, "{}")
    headings = _headings(table, table.corner.lower())
    text = tabulate(rows, headings, tablefmt="simple", disable_numparse=True)
    return f"{table.title}\n{text}\n{table.caption}\n{_footnotes(table)}"


def _headings(table: Table, corner: str) -> list[str]:
    if len(set(table.columns)) == len(table.columns):
        return [corner, *table.columns]
    pairs = zip(table.column_groups, table.columns, strict=True)
    return [corner, *(f"{group} {column}".strip() for group, column in pairs)]


def _grid(table: Table, show: Callable[[Cell], str], heading: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for block in table.blocks:
        if block.heading:
            rows.append([heading.format(block.heading), *[""] * len(table.columns)])
        rows.extend([row.label, *map(show, row.cells)] for row in block.rows)
    return rows


def _footnotes(table: Table) -> str:
    return "".join(f"({one}) {note}\n" for one, note in enumerate(table.footnotes, start=1))


def to_csv(table: Table) -> str:
    """Return one line per cell: where it stands, its numbers (empty where there are none), text, mark, note."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    numbers = [f"{name}_{table.unit}" for name in ("mean", "std", "low", "high")]
    writer.writerow(["block", "row", "group", "column", *numbers, "text", "mark", "note"])
    for block in table.blocks:
        for row in block.rows:
            for group, column, cell in zip(table.column_groups, table.columns, row.cells, strict=True):
                shown = [_csv(value) for value in (cell.mean, cell.std, cell.low, cell.high)]
                note = "" if cell.note is None else table.footnotes[cell.note - 1]
                writer.writerow(
                    [block.heading, row.label, group, column, *shown, cell.text or "", cell.mark, note]
                )
    return buffer.getvalue()


def _csv(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def to_json(table: Table) -> str:
    """Return the whole table as JSON, numbers to four decimals; what a cell does not have is left out."""
    content = {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "footnotes": table.footnotes,
        "unit": table.unit,
        "columns": [
            {"group": group, "name": name}
            for group, name in zip(table.column_groups, table.columns, strict=True)
        ],
        "blocks": [
            {
                "heading": block.heading,
                "rows": [
                    {"label": row.label, "cells": [_json(cell) for cell in row.cells]} for row in block.rows
                ],
            }
            for block in table.blocks
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _json(cell: Cell) -> dict[str, float | int | str]:
    values = {name: getattr(cell, name) for name in ("mean", "std", "low", "high", "text", "mark", "note")}
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in values.items()
        if value not in (None, "")
    }
