"""The report as one HTML file that opens from disk and needs no network."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bench import __version__
from bench.render.figure import Figure
from bench.render.formats import parts
from bench.render.latex import pages as latex_pages
from bench.render.svg import inline
from bench.render.table import Table
from bench.report.answer import what_failed
from bench.report.cell_view import cell_view
from bench.report.contents import Contents
from bench.report.evidence import facts
from bench.report.reproducibility import checklist
from bench.report.section import Section
from bench.report.shared_notes import SharedNotes
from bench.results.record import Record


def page(out: Path, contents: Contents, figures: Path) -> str:
    """Return the page.

    Parameters
    ----------
    out
        Results folder, for the logs of cells.
    contents
        What to show.
    figures
        Folder with the figures' SVG files.
    """

    def picture(figure: Figure) -> Markup:
        svg = (figures / f"{figure.name}.svg").read_text(encoding="utf-8")
        return inline(svg, figure.name, figure.alt)

    environment = Environment(
        loader=PackageLoader("bench.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(parts=parts, files=_files)
    summaries = [section.summary for section in contents.sections]
    kinds = {record.data.kind for record in contents.records}
    return environment.get_template("page.html").render(
        version=__version__,
        answer=[*filter(None, summaries), what_failed(contents.records)],
        shared=shared_notes(contents.sections),
        records=contents.records,
        sections=contents.sections,
        facts=facts(contents.records, contents.suites, contents.measured, contents.damages),
        cells=[cell_view(out, record) for record in contents.records],
        checklist=checklist(contents),
        picture=picture,
        is_simulated="simulated" in kinds,
        cell_filters=_cell_filters(contents.records),
    )


def shared_notes(sections: Sequence[Section]) -> SharedNotes:
    """Return what the captions of all tables and figures share."""
    captions = [
        *((table.name, table.caption, table.footnotes) for section in sections for table in section.tables),
        *((figure.name, figure.caption, ()) for section in sections for figure in section.figures),
    ]
    return SharedNotes.of(captions)


def _files(item: Table | Figure) -> dict[str, str]:
    """Return the files of a table or a figure: their addresses from the page, by label."""
    if isinstance(item, Figure):
        return {suffix.upper(): f"figures/{item.name}.{suffix}" for suffix in ("png", "pdf", "svg")}
    on_paper = [page_table.name for page_table in latex_pages(item)]
    labels = ["LaTeX"] if len(on_paper) == 1 else [f"LaTeX {place + 1}" for place in range(len(on_paper))]
    latex = {label: f"tables/{name}.tex" for label, name in zip(labels, on_paper, strict=True)}
    return {"CSV": f"tables/{item.name}.csv", "markdown": f"tables/{item.name}.md", **latex}


def _cell_filters(records: Sequence[Record]) -> list[tuple[str, str, list[str]]]:
    """Return label, name and values of what cells are filtered by."""
    return [
        ("Model", "model", sorted({record.cell.model for record in records})),
        ("Dataset", "dataset", sorted({record.cell.dataset for record in records})),
        ("Outcome", "outcome", sorted({record.outcome for record in records})),
    ]
