"""``bench compare``: Show what differs between two sets of results."""

from collections import Counter
from pathlib import Path

import click

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command("compare")
@click.argument("first", type=_FOLDER)
@click.argument("second", type=_FOLDER)
@click.option("--all", "show_all", is_flag=True, help="Show equal cells too.")
def command(first: Path, second: Path, show_all: bool) -> None:
    """Show which cells of two results folders differ, why, and whether it matters; exit code 1 if it does.

    Efficiency measurements and analyses are not compared.

    \b
    bench compare results colleague/results
    """
    from tabulate import tabulate

    from bench.studies.caption import plural
    from bench.studies.compare_sets import compare_sets

    lines = compare_sets(first, second)
    shown = [line for line in lines if show_all or line.kind != "equal"]
    rows = [
        [
            line.cell,
            line.kind,
            "" if line.points is None else f"{line.points:+.2f}",
            "yes" if line.matters else "no",
            line.detail,
        ]
        for line in shown
    ]
    if rows:
        headings = ["cell", "what", "F1 points", "matters", "why"]
        click.echo(tabulate(rows, headings, tablefmt="simple", disable_numparse=True))
    counts = Counter(line.kind for line in lines)
    n_matter = sum(line.matters for line in lines)
    click.echo(f"{plural(len(lines), 'cell')}: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    click.echo(f"differences that matter: {n_matter or 'none'}")
    raise SystemExit(1 if n_matter else 0)
