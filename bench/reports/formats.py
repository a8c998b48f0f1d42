"""Tables as text: LaTeX (booktabs), markdown, console and CSV, all from the same data."""

import csv
import io
import re

import pandas as pd
from tabulate import tabulate

from bench.reports.table import Cell, Table

_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def latex_escape(text: str) -> str:
    """Return a text with LaTeX's special characters escaped."""
    return re.sub("|".join(map(re.escape, _LATEX_SPECIAL)), lambda match: _LATEX_SPECIAL[match.group()], text)


def to_latex(table: Table) -> str:
    r"""Return a ``table`` environment that needs booktabs only; include it with ``\input``."""
    body = [
        [latex_escape(row.label), *map(_latex_cell, row.cells)]
        for block in table.blocks
        for row in block.rows
    ]
    frame = pd.DataFrame(body, columns=["Model", *map(latex_escape, table.columns)])
    styled = frame.style.hide(axis="index").to_latex(
        hrules=True, column_format="l" + "c" * len(table.columns)
    )
    notes = " ".join(f"({i}) {note}." for i, note in enumerate(table.footnotes, start=1))
    caption = latex_escape(f"{table.title}. {table.caption}{' ' + notes if notes else ''}")
    lines = [
        r"\begin{table*}[t]",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{table.name}}}",
        _with_headings(styled.rstrip(), table),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _with_headings(tabular: str, table: Table) -> str:
    """Put each block's heading and a rule before its rows."""
    lines = tabular.split("\n")
    first = lines.index(r"\midrule") + 1
    n_columns = len(table.columns) + 1
    result, row = lines[:first], first
    for number, block in enumerate(table.blocks):
        if number:
            result.append(r"\midrule")
        result.append(rf"\multicolumn{{{n_columns}}}{{l}}{{\emph{{{latex_escape(block.heading)}}}}} \\")
        result.extend(lines[row : row + len(block.rows)])
        row += len(block.rows)
    return "\n".join([*result, *lines[row:]])


def _latex_cell(cell: Cell) -> str:
    text = _number(cell, r"$\pm$")
    text = {"best": rf"\textbf{{{text}}}", "second": rf"\underline{{{text}}}", "": text}[cell.mark]
    return text if cell.note is None else rf"{text}$^{{{cell.note}}}$"


def _number(cell: Cell, sign: str) -> str:
    if cell.mean is None:
        return "--"
    return f"{cell.mean:.2f}" if cell.std is None else f"{cell.mean:.2f}{sign}{cell.std:.2f}"


def to_markdown(table: Table) -> str:
    """Return a pipe table under a heading; best in bold, second underlined."""

    def show(cell: Cell) -> str:
        text = _number(cell, "±")
        text = {"best": f"**{text}**", "second": f"<u>{text}</u>", "": text}[cell.mark]
        return text if cell.note is None else f"{text} ({cell.note})"

    rows = _grid(table, show, "*{}*")
    text = tabulate(rows, ["Model", *table.columns], tablefmt="pipe", disable_numparse=True)
    return f"### {table.title}\n\n{text}\n\n{table.caption}\n{_footnotes(table)}"


def to_console(table: Table) -> str:
    """Return a plain table; a star marks the best of a column."""

    def show(cell: Cell) -> str:
        text = _number(cell, "±") + ("*" if cell.mark == "best" else "")
        return text if cell.note is None else f"{text} ({cell.note})"

    rows = _grid(table, show, "{}")
    text = tabulate(rows, ["model", *table.columns], tablefmt="simple", disable_numparse=True)
    return f"{table.title}\n{text}\n{table.caption}\n{_footnotes(table)}"


def _grid(table: Table, show, heading: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for block in table.blocks:
        rows.append([heading.format(block.heading), *[""] * len(table.columns)])
        rows.extend([row.label, *map(show, row.cells)] for row in block.rows)
    return rows


def _footnotes(table: Table) -> str:
    return "".join(f"({number}) {note}\n" for number, note in enumerate(table.footnotes, start=1))


def to_csv(table: Table) -> str:
    """Return one line per number: block, row, column, mean, std; empty where there is none."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["block", "row", "column", "mean_percent", "std_percent"])
    for block in table.blocks:
        for row in block.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                writer.writerow([block.heading, row.label, column, _csv(cell.mean), _csv(cell.std)])
    return buffer.getvalue()


def _csv(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
