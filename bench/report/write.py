"""The report of a results folder as files: tables in five formats, figures in three, page, checklist, all scores."""

from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

from bench.errors import BenchError, RecordError
from bench.files import remove_abandoned
from bench.machine import available_cores
from bench.process_pool import process_pool
from bench.processes import DRAWING
from bench.render.export import write_data_tables, write_figure, write_tables, write_text
from bench.render.figure import Figure
from bench.render.labels import LabelsDoNotFitError
from bench.render.latex import document, pages
from bench.render.table import Table
from bench.report.analysis_records import CONTRADICTIONS, contradiction
from bench.report.contents import Contents, read_contents
from bench.report.listed_files import replace_listed
from bench.report.section import Section, in_brief
from bench.report.whole_files import PAGE, write_whole_files

_MOST_DRAWING = 8
"""Number of processes that draw figures; each takes about 100 MB."""


@dataclass(frozen=True)
class Report:
    """What was rendered.

    `brief` are the tables for a terminal, headlines last; `files` are all files written, `page` included; `damaged`
    says what could not be read.
    """

    brief: tuple[Table, ...]
    files: tuple[Path, ...]
    damaged: tuple[BenchError, ...]
    page: Path


def render(out: Path, report: Path) -> Report:
    """Render everything that a results folder has.

    Figures are drawn in processes that import the calling script: guard it by ``if __name__ == "__main__"``.

    Parameters
    ----------
    out
        Results folder.
    report
        Folder for the files. Files of the last report there that are not written again are removed.

    Raises
    ------
    RecordError
        There is no record, or the folder of cells is none.
    """
    for folder in (report, report / "tables", report / "figures"):
        remove_abandoned(folder)
    contents, files = _fill(out, report)
    files += write_whole_files(out, contents, report)
    return Report(
        brief=in_brief(contents.sections),
        files=(*files, replace_listed(report, files)),
        damaged=contents.damaged,
        page=report / PAGE,
    )


def _fill(out: Path, report: Path) -> tuple[Contents, list[Path]]:
    """Build the contents and write their tables, while other processes draw the figures of finished sections.

    Raises
    ------
    RecordError
        A drawing process died; or as in `render`.
    """
    drawn: dict[str, Future[list[Path]]] = {}
    n_workers = min(available_cores(), _MOST_DRAWING)
    try:
        with process_pool(n_workers, DRAWING) as pool:

            def draw(section: Section) -> None:
                for figure in section.figures:
                    drawn[figure.name] = pool.submit(write_figure, figure, report / "figures")

            contents = read_contents(out, draw)
            files = _write_tables(contents, report / "tables")
            contents = _take_figures(contents, drawn, files)
    except BrokenProcessPool as error:
        raise RecordError(
            f"{report}: a process that draws died, perhaps for lack of memory; run 'bench report' again"
        ) from error
    return contents, files


def _write_tables(contents: Contents, folder: Path) -> list[Path]:
    tables = [table for section in contents.sections for table in section.tables]
    data_tables = [table for section in contents.sections for table in section.data_tables]
    on_paper = [page_table for table in tables for page_table in pages(table)]
    return [
        *write_tables(tables, folder),
        *write_data_tables(data_tables, folder),
        write_text(folder / "all-tables.tex", document(on_paper)),
    ]


def _take_figures(contents: Contents, drawn: Mapping[str, Future[list[Path]]], files: list[Path]) -> Contents:
    """Wait for the figures and add their files; one that cannot be drawn is left out and reported."""
    sections: list[Section] = []
    failed: list[BenchError] = []
    for section in contents.sections:
        figures: list[Figure] = []
        for figure in section.figures:
            try:
                files.extend(drawn[figure.name].result())
            except LabelsDoNotFitError as error:
                failed.append(error)
            except CONTRADICTIONS as error:
                remedy = "remove the records that it shows, one by one, and report again"
                failed.append(contradiction(f"figure {figure.name}", error, remedy))
            else:
                figures.append(figure)
        sections.append(replace(section, figures=tuple(figures)))
    return replace(contents, sections=tuple(sections), damaged=(*contents.damaged, *failed))
