"""The report as one HTML file that opens from disk and needs no network."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bench import __version__
from bench.render.figure import Figure
from bench.render.formats import number
from bench.render.svg import inline
from bench.report.cell_view import cell_view
from bench.report.contents import Contents
from bench.report.evidence import facts
from bench.report.reproducibility import checklist


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
    environment.filters["number"] = number
    kinds = {record.data.kind for record in contents.records}
    return environment.get_template("page.html").render(
        version=__version__,
        records=contents.records,
        sections=contents.sections,
        facts=facts(contents.records, contents.suites, contents.measured, contents.damages),
        cells=[cell_view(out, record) for record in contents.records],
        checklist=checklist(contents),
        picture=picture,
        is_simulated="simulated" in kinds,
        outcomes=sorted({record.outcome for record in contents.records}),
    )
