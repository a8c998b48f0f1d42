"""Tables as markdown, console text, CSV and JSON, all from the same data; LaTeX is in `latex.py`."""

import csv
import io
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from tabulate import tabulate

from bench.render.table import Cell, Table


def number(cell: Cell, digits: int, sign: str = "±") -> str:
    """Return the text of a cell, without its mark and its note.

    An empty cell is two hyphens, or "n/a" if it has a note: a dash with a number behind it reads as a negative number.
    """
    return "".join(parts(cell, digits, sign))


def parts(cell: Cell, digits: int, sign: str = "±") -> tuple[str, ...]:
    """Return the text of a cell in the parts between which a line may break."""
    if cell.text is not None:
        return (cell.text,)
    if cell.mean is None:
        return ("--" if cell.note is None else "n/a",)
    mean = _fixed(cell.mean, digits)
    if cell.low is not None and cell.high is not None:
        return mean, f" [{_fixed(cell.low, digits)}, {_fixed(cell.high, digits)}]"
    return (mean,) if cell.std is None else (mean, f"{sign}{_fixed(cell.std, digits)}")


def _fixed(value: float, digits: int) -> str:
    """Return a number with fixed decimals; a rounded zero has no minus sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def escape_markdown(text: str) -> str:
    """Return a text with markdown's and HTML's special characters escaped."""
    for character in "\\`*_<>[]|":
        text = text.replace(character, f"\\{character}")
    return text


def to_markdown(table: Table) -> str:
    """Return a pipe table under a heading; best in bold, second underlined."""

    def show(cell: Cell) -> str:
        text = number(cell, table.digits) if cell.text is None else escape_markdown(cell.text)
        text = {"best": f"**{text}**", "second": f"<u>{text}</u>", "": text}[cell.mark]
        return text if cell.note is None else f"{text} ({cell.note})"

    rows = _grid(table, show, "*{}*", escape_markdown)
    headings = list(map(escape_markdown, _headings(table, table.corner)))
    text = tabulate(rows, headings, tablefmt="pipe", disable_numparse=True)
    title, caption, notes = map(escape_markdown, (table.title, table.caption, _lines_of_footnotes(table)))
    return f"### {title}\n\n{text}\n\n{caption}\n{notes}"


def to_console(table: Table) -> str:
    """Return a plain table; a star marks the best of those that may be compared."""

    def show(cell: Cell) -> str:
        text = number(cell, table.digits) + ("*" if cell.mark == "best" else "")
        return text if cell.note is None else f"{text} ({cell.note})"

    rows = _grid(table, show, "", str)
    headings = [table.corner.lower(), *table.columns]
    lines = tabulate(rows, headings, tablefmt="simple", disable_numparse=True).splitlines()
    text = "\n".join([*_group_lines(table.groups, lines[1]), *_with_block_headings(table, lines)])
    return f"{table.title}\n{text}\n{table.caption}\n{_lines_of_footnotes(table)}"


def to_terminal(table: Table, width: int = 80) -> str:
    """Return a plain table without footnotes, its caption wrapped to a width, and an empty line."""
    rows = _grid(table, lambda cell: number(cell, table.digits), "{}", str)
    text = tabulate(rows, _headings(table, table.corner.lower()), tablefmt="simple", disable_numparse=True)
    return "\n".join([*textwrap.wrap(table.title, width), text, *textwrap.wrap(table.caption, width), ""])


def _with_block_headings(table: Table, lines: Sequence[str], width: int = 80) -> Iterator[str]:
    """Yield the lines of a table, the heading of each block across all columns, so that it widens none."""
    n_above = len(lines) - sum(len(block.rows) + bool(block.heading) for block in table.blocks)
    yield from lines[:n_above]
    rows = iter(lines[n_above:])
    for block in table.blocks:
        if block.heading:
            next(rows)
            yield from textwrap.wrap(block.heading, width)
        yield from islice(rows, len(block.rows))


def _headings(table: Table, corner: str) -> list[str]:
    """Return the heading of each column, behind that of its group."""
    pairs = zip(table.column_groups, table.columns, strict=True)
    return [corner, *(f"{group}: {column}" if group else column for group, column in pairs)]


def _group_lines(groups: Sequence[tuple[str, int]], rule: str) -> list[str]:
    """Return the lines above a console table that head groups of columns, each with dashes to its last column.

    ``rule`` is the table's line of dashes, which shows where columns are.
    """
    spans = [match.span() for match in re.finditer("-+", rule)][1:]
    headed: list[tuple[int, list[str]]] = []
    for heading, width in groups:
        start, end = spans[0][0], spans[width - 1][1]
        spans = spans[width:]
        texts = textwrap.wrap(heading, end - start)
        if texts and width > 1 and len(texts[-1]) < end - start:
            texts[-1] = f"{texts[-1]} ".ljust(end - start, "-")
        headed.append((start, texts))
    n_lines = max((len(texts) for _, texts in headed), default=0)
    lines = [""] * n_lines
    for start, texts in headed:
        for place, text in enumerate(texts, start=n_lines - len(texts)):
            lines[place] = lines[place].ljust(start) + text
    return lines


def _grid(
    table: Table, show: Callable[[Cell], str], heading: str, escape: Callable[[str], str]
) -> list[list[str]]:
    rows: list[list[str]] = []
    for block in table.blocks:
        if block.heading:
            rows.append([heading.format(escape(block.heading)), *[""] * len(table.columns)])
        rows.extend([escape(row.label), *map(show, row.cells)] for row in block.rows)
    return rows


def footnotes(table: Table) -> tuple[str, ...]:
    """Return the footnotes behind their numbers; those that no cell names are called notes."""
    return tuple(f"Note: {text}" if number is None else f"({number}) {text}" for number, text in table.notes)


def _lines_of_footnotes(table: Table) -> str:
    return "".join(f"{note}\n" for note in footnotes(table))


def to_csv(table: Table) -> str:
    """Return one line per cell: its place, numbers with their unit, text, mark and note; all may be empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    numbers = ("mean", "std", "low", "high")
    writer.writerow(["block", "row", "group", "column", *numbers, "unit", "text", "mark", "note"])
    for block in table.blocks:
        for row in block.rows:
            for group, column, cell in zip(table.column_groups, table.columns, row.cells, strict=True):
                shown = [_csv(getattr(cell, name)) for name in numbers]
                unit = "" if cell.mean is None else cell.unit or table.unit
                note = "" if cell.note is None else table.footnotes[cell.note - 1]
                writer.writerow(
                    [block.heading, row.label, group, column, *shown, unit, cell.text or "", cell.mark, note]
                )
    return buffer.getvalue()


def _csv(value: float | None) -> str:
    return "" if value is None else repr(_significant(value))


def _significant(value: float) -> float:
    """Return a number to six significant digits: more than any table prints, and equal on all machines."""
    return float(f"{value:.6g}")


def to_json(table: Table) -> str:
    """Return the whole table as JSON; empty fields of a cell are left out, as is a unit equal to the table's."""
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
    names = ("mean", "std", "low", "high", "unit", "text", "mark", "note")
    values = {name: getattr(cell, name) for name in names}
    return {
        name: _significant(value) if isinstance(value, float) else value
        for name, value in values.items()
        if value not in (None, "")
    }
