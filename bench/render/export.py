"""Tables and figures as files: tables in five formats, figures in three, with their captions as text."""

from collections.abc import Callable, Iterable
from pathlib import Path

from bench.files import atomic_file
from bench.render.figure import Figure
from bench.render.formats import to_csv, to_json, to_markdown
from bench.render.latex import pages, to_latex
from bench.render.table import Table

_TEXTS: dict[str, Callable[[Table], str]] = {".md": to_markdown, ".csv": to_csv, ".json": to_json}
_DATA: dict[str, Callable[[Table], str]] = {".csv": to_csv, ".json": to_json}


def write_tables(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Write tables as LaTeX, split into parts that each fit a page, and as markdown, CSV and JSON."""
    paths = []
    for table in tables:
        paths.extend(write_text(folder / f"{page.name}.tex", to_latex(page)) for page in pages(table))
        paths.extend(_write(table, folder, _TEXTS))
    return paths


def write_data_tables(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Write tables that are too long for paper, as CSV and JSON."""
    return [path for table in tables for path in _write(table, folder, _DATA)]


def write_figure(figure: Figure, folder: Path) -> list[Path]:
    """Write a figure as PDF, SVG and PNG, and its caption."""
    return [*figure.write(folder), write_text(folder / f"{figure.name}.txt", figure.caption + "\n")]


def write_report(tables: Iterable[Table], figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Write tables and figures to their folders below a report's."""
    paths = write_tables(tables, folder / "tables")
    for figure in figures:
        paths.extend(write_figure(figure, folder / "figures"))
    return paths


def write_text(path: Path, text: str) -> Path:
    """Write a text whole or not at all; return its path."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def _write(table: Table, folder: Path, formats: dict[str, Callable[[Table], str]]) -> list[Path]:
    return [
        write_text(folder / f"{table.name}{suffix}", to_text(table)) for suffix, to_text in formats.items()
    ]
