"""``bench field``: Show what other papers report on the same data, and add results packs."""

from pathlib import Path

import click

from bench.cli.options import SuggestingGroup


@click.group("field", cls=SuggestingGroup)
def command() -> None:
    """Show what other papers report on the same data, and add verified results packs.

    \b
    bench field show --datasets uci-har
    bench field add my-results.zip --folder field
    bench field render --folder field
    """


@command.command("show")
@click.option("--datasets", "names", default="all", show_default=True, help="A comma list of names, or all.")
def show(names: str) -> None:
    """Print the scores that other papers report, with dates and differences in protocol.

    \b
    bench field show
    bench field show --datasets uci-har
    """
    from bench.field.claimed import datasets
    from bench.field.field_tables import field_tables
    from bench.plan.select import parse_names
    from bench.render.formats import to_console

    chosen = parse_names("dataset", names, datasets(), datasets())
    click.echo("\n".join(map(to_console, field_tables(chosen))))


_FOLDER = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("field"),
    show_default=True,
    help="Folder of the submissions and of the page.",
)


@command.command("add")
@click.argument("pack", type=click.Path(path_type=Path, dir_okay=False))
@_FOLDER
@click.option("--check", is_flag=True, help="Verify the pack; add nothing.")
def add(pack: Path, folder: Path, check: bool) -> None:
    """Verify a results pack and add its rows to the table, or refuse it with the reason.

    Every byte is checked against the manifest, every key recomputed from settings and split, every score from the
    predictions; no subject may be in two parts.

    \b
    bench field add my-results.zip
    bench field add my-results.zip --check
    """
    from bench.field import submission

    found = submission.verify(pack) if check else submission.add(pack, folder)
    n_cells = sum(len(row.cells) for row in found.rows)
    click.echo(
        f"{pack}: verified, {len(found.rows)} rows of {n_cells} cells{'' if check else f', in {folder}'}"
    )
    for row in found.rows:
        seeds = ", ".join(str(cell.seed) for cell in row.cells)
        score = row.mean("f1")
        shown = "no F1" if score is None else f"F1 {score:.2f}"
        click.echo(f"  {row.model} on {row.dataset}, recipe {row.recipe}, seeds {seeds}: {shown}")


@command.command("render")
@_FOLDER
def render(folder: Path) -> None:
    """Write the page of all claimed and verified rows into the folder of submissions.

    \b
    bench field render --folder field
    """
    from bench.field.field_page import write_page
    from bench.field.submission import submissions

    page, *files = write_page(submissions(folder), folder)
    click.echo(f"{len(files)} CSV files in {folder}")
    click.echo(f"page: {page}")
