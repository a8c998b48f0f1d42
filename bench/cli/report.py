"""``bench report``: Render tables, figures and a page from records."""

from collections.abc import Collection
from pathlib import Path

import click

from bench.cli.options import default_results, out_option, report_folder


@click.command("report")
@out_option
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the files. [default: OUT/report with --out, else reports/latest]",
)
def command(out: Path | None, report: Path | None) -> None:
    """Render tables, figures and a page from the records of a results folder. Needs no data and trains nothing.

    \b
    bench report
    bench report --out results --report paper/report
    """
    render_and_print(out or default_results(), report or report_folder(out))


def render_and_print(out: Path, report: Path, keys: Collection[str] = ()) -> None:
    """Render a report; print what was left out, the scores in brief, the headline, and where the page is.

    With the ``keys`` of some cells the tables printed are of these cells alone.
    """
    from bench.render.formats import to_terminal
    from bench.report import asked_tables, render

    rendered = render(out, report)
    for error in rendered.damaged:
        click.echo(f"left out: {error}", err=True)
    for table in (asked_tables(out, keys) if keys else ()) or rendered.brief:
        click.echo(to_terminal(table))
    click.echo(f"{len(rendered.files)} files in {report}: tables/, figures/, cells.csv, REPRODUCIBILITY.md")
    click.echo(f"page: {rendered.page}")
