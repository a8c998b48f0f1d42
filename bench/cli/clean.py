"""``bench clean``: Remove records by outcome, model or dataset; asks first."""

from collections.abc import Sequence
from pathlib import Path

import click

from bench.cli.options import default_results, out_option


@click.command("clean")
@out_option
@click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    metavar="OUTCOME",
    help="ok, failed, timeout, out-of-memory, diverged, unfinished or damaged. Repeatable. [default: every one]",
)
@click.option("--models", help="A comma list of names. [default: every one]")
@click.option("--datasets", help="A comma list of names. [default: every one]")
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(
    out: Path | None, outcomes: tuple[str, ...], models: str | None, datasets: str | None, yes: bool
) -> None:
    """Remove cells with all their files, after asking. Cells that are being trained are left alone.

    \b
    bench clean --outcome failed --outcome timeout
    bench clean --models medmamba --datasets ptb,ptb-xl --yes
    """
    from bench.run.clean import ENDINGS, choose, remove
    from bench.run.status import cell_statuses

    cells = cell_statuses(out or default_results(), hashed="damaged" in outcomes)
    chosen = choose(
        cells,
        _known("outcome", outcomes, ENDINGS),
        _known("model", _names(models), [cell.name.model for cell in cells]),
        _known("dataset", _names(datasets), [cell.name.dataset for cell in cells]),
    )
    for cell in chosen:
        click.echo(f"{cell.label}  {cell.ending}  {cell.folder.path}")
    if not chosen:
        click.echo("no cell to remove")
    elif yes or click.confirm(f"Remove these {len(chosen)} cells with all their files?", err=True):
        left = remove(chosen)
        click.echo(f"removed {len(chosen) - len(left)} cells, left {len(left)} that a run has taken up")


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _known(kind: str, asked: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    """Return the names asked for; one that no cell has is an error, since a typing mistake would keep cells."""
    from bench.errors import unknown_name

    for name in asked:
        if name not in known:
            raise unknown_name(kind, name, set(known))
    return asked
