"""The files of a report that show all of it: the page, the checklist, and every score as CSV."""

from pathlib import Path

from bench.render.export import write_text
from bench.report.contents import Contents
from bench.report.page import page
from bench.report.reproducibility import to_markdown
from bench.studies.tidy import as_csv, tidy_rows

PAGE = "index.html"


def write_whole_files(out: Path, contents: Contents, report: Path) -> list[Path]:
    """Write them into a report's folder, whose figures are there already; return their paths."""
    return [
        write_text(report / "REPRODUCIBILITY.md", to_markdown(contents)),
        write_text(report / "cells.csv", as_csv(tidy_rows(contents.records))),
        write_text(report / PAGE, page(out, contents, report / "figures")),
    ]
