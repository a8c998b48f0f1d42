"""The report of a results folder as files: tables in five formats, figures in three, one page, one checklist."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError
from bench.files import atomic_file
from bench.reports.contents import read_contents
from bench.reports.formats import to_csv, to_json, to_markdown
from bench.reports.latex import document, split_rows, to_latex
from bench.reports.page import page
from bench.reports.reproducibility import to_markdown as checklist_to_markdown
from bench.reports.section import Section
from bench.reports.table import Table

ROWS_A_PAGE = 18
"""Of a table whose texts wrap, so many rows fit a page."""

_DATA_FORMATS: dict[str, Callable[[Table], str]] = {".csv": to_csv, ".json": to_json}


@dataclass(frozen=True)
class Report:
    """What was rendered.

    `tables` are those that a terminal shows; `files` are all that were written, `page` among them; `damaged` says
    what could not be read.
    """

    tables: tuple[Table, ...]
    files: tuple[Path, ...]
    damaged: tuple[BenchError, ...]
    page: Path


def render(out: Path, report: Path) -> Report:
    """Render everything that a results folder has.

    Parameters
    ----------
    out
        Results folder.
    report
        Folder that the files go to; earlier ones of the same name are replaced.

    Raises
    ------
    RecordError
        There is no record, or one is of a newer schema.
    """
    contents = read_contents(out)
    files = [*_write_tables(contents.sections, report / "tables")]
    for section in contents.sections:
        for figure in section.figures:
            files.extend(figure.write(report / "figures"))
            files.append(_write(report / "figures" / f"{figure.name}.txt", figure.caption + "\n"))
    files.append(_write(report / "REPRODUCIBILITY.md", checklist_to_markdown(contents)))
    index = _write(report / "index.html", page(out, contents, report / "figures"))
    shown = {table.name: table for section in contents.sections for table in section.tables}
    return Report(
        tables=tuple(shown[name] for name in contents.main if name in shown),
        files=(*files, index),
        damaged=contents.damaged,
        page=index,
    )


def _write_tables(sections: Sequence[Section], folder: Path) -> list[Path]:
    """Write all tables, and the document that includes those for paper."""
    files, on_paper = [], []
    for section in sections:
        for table in section.tables:
            pages = split_rows(table, ROWS_A_PAGE) if table.widths else [table]
            on_paper.extend(pages)
            files.extend(_write(folder / f"{one.name}.tex", to_latex(one)) for one in pages)
            files.append(_write(folder / f"{table.name}.md", to_markdown(table)))
        for table in (*section.tables, *section.data_tables):
            for suffix, to_text in _DATA_FORMATS.items():
                files.append(_write(folder / f"{table.name}{suffix}", to_text(table)))
    return [*files, _write(folder / "all-tables.tex", document(on_paper))]


def _write(path: Path, text: str) -> Path:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
