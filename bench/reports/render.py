"""The report of a results folder as files: tables in five formats, figures in three, one page, one checklist."""

import json
from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

from bench.errors import BenchError, RecordError
from bench.machine import available_cores
from bench.processes import process_pool
from bench.reports.contents import Contents, read_contents
from bench.reports.figure import Figure
from bench.reports.files import write_data_tables, write_figure, write_tables, write_text
from bench.reports.labels import LabelsDoNotFitError
from bench.reports.latex import document, pages
from bench.reports.page import page
from bench.reports.reproducibility import to_markdown
from bench.reports.table import Table

MANIFEST = "files.json"

_MOST_DRAWING = 8
"""Processes that draw; each holds its own matplotlib, about 100 MB."""


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
        Folder that the files go to. Those of the last report there that are not written again are removed.

    Raises
    ------
    RecordError
        There is no record, or one is of a newer schema.
    """
    contents, drawn = _draw(read_contents(out), report / "figures")
    tables = [table for section in contents.sections for table in section.tables]
    on_paper = [one for table in tables for one in pages(table)]
    files = [
        *write_tables(tables, report / "tables"),
        *write_data_tables((one for s in contents.sections for one in s.data_tables), report / "tables"),
        write_text(report / "tables" / "all-tables.tex", document(on_paper)),
        *drawn,
        write_text(report / "REPRODUCIBILITY.md", to_markdown(contents)),
        write_text(report / "index.html", page(out, contents, report / "figures")),
    ]
    shown = {table.name: table for table in tables}
    return Report(
        tables=tuple(shown[name] for name in contents.main if name in shown),
        files=(*files, _replace_manifest(report, files)),
        damaged=contents.damaged,
        page=report / "index.html",
    )


def _draw(contents: Contents, folder: Path) -> tuple[Contents, list[Path]]:
    """Draw all figures, several at a time; one that has no room for its labels is left out and told.

    Raises
    ------
    RecordError
        A process that draws died.
    """
    sections, files, failed = [], [], []
    with process_pool(min(available_cores(), _MOST_DRAWING)) as pool:
        asked = {
            figure.name: pool.submit(write_figure, figure, folder)
            for section in contents.sections
            for figure in section.figures
        }
        for section in contents.sections:
            figures: list[Figure] = []
            for figure in section.figures:
                try:
                    files.extend(asked[figure.name].result())
                except LabelsDoNotFitError as error:
                    failed.append(error)
                except BrokenProcessPool as error:
                    raise RecordError(
                        f"{folder}: a process that draws died, perhaps for want of memory"
                    ) from error
                else:
                    figures.append(figure)
            sections.append(replace(section, figures=tuple(figures)))
    told = replace(contents, sections=tuple(sections), damaged=(*contents.damaged, *failed))
    return told, files


def _replace_manifest(report: Path, files: Iterable[Path]) -> Path:
    """Remove files of the last report that this one does not have, and list those that it has.

    The list is the only authority: files that no report has written are never touched.
    """
    path = report / MANIFEST
    names = sorted(file.relative_to(report).as_posix() for file in files)
    for name in set(_listed(path)) - set(names):
        old = report / name
        if old.resolve().is_relative_to(report.resolve()):
            old.unlink(missing_ok=True)
    return write_text(path, json.dumps({"files": names}, indent=1) + "\n")


def _listed(manifest: Path) -> Sequence[str]:
    """Return what a manifest lists; nothing where there is none, or none that can be read."""
    try:
        listed = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else ()
