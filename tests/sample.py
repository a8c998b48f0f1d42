"""The committed reports: what records render to, without the files that are large.

After a change of what a report shows: ``make run``, then ``python -m tests.sample results`` from the project's root.
A second folder is where the report of a real study goes: ``python -m tests.sample OUT reports/uci-har``.
"""

import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.report import render

SAMPLE = Path(__file__).parents[1] / "reports" / "sample"
KEPT = (".html", ".md", ".png", ".tex")

_LINK = re.compile(r'<a href="(?P<file>(?:tables|figures)/[^"]+)">[^<]*</a>(?: · )?')
_END_OF_LINKS = re.compile(r" · (?=</p>)")
_NO_LINKS = re.compile(r"<p>[^<]*: </p>\n")


def write(results: Path, sample: Path) -> None:
    """Render a results folder and keep the page, the checklist, and tables and pictures that a browser shows."""
    with TemporaryDirectory() as scratch:
        report = Path(scratch)
        render(results, report)
        shutil.rmtree(sample, ignore_errors=True)
        for file in (file for file in report.rglob("*") if file.suffix in KEPT):
            copy = sample / file.relative_to(report)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    page = sample / "index.html"
    page.write_text(without_dead_links(page.read_text(encoding="utf-8")), encoding="utf-8")


def without_dead_links(page: str) -> str:
    """Return a report's page without links to files that are not kept, and without sentences of such links alone."""

    def kept(link: re.Match[str]) -> str:
        return link[0] if Path(link["file"]).suffix in KEPT else ""

    return _NO_LINKS.sub("", _END_OF_LINKS.sub("", _LINK.sub(kept, page)))


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else SAMPLE)
