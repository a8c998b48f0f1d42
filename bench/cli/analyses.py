"""What the analyses of trained cells share on the command line: options, the data's folder, printing and writing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bench.cli.options import default_data, default_results, out_option

if TYPE_CHECKING:
    from bench.reports.figure import Figure
    from bench.reports.table import Table
    from bench.results.record import Record

Function = TypeVar("Function", bound=Callable[..., Any])


def trained_options(function: Function) -> Function:
    """Add ``--dataset``, ``--data`` and ``--out`` of an analysis of trained cells."""
    for option in reversed(
        [
            click.option("--dataset", default="adftd", show_default=True, help="Of the trained cells."),
            click.option(
                "--data",
                type=click.Path(path_type=Path, file_okay=False),
                help="Folder with one sub-folder per dataset. [default: the simulated data for cells trained on it, "
                "else $BENCH_DATA or the user's cache folder]",
            ),
            out_option,
        ]
    ):
        function = option(function)
    return function


def root_for(records: Sequence["Record"], data: Path | None) -> Path:
    """Return the folder with the data that cells were trained on: the given one, else where such data lies."""
    if data is not None:
        return data
    if all(record.data.kind == "simulated" for record in records):
        from bench.datasets.cohort import demo_root

        return demo_root()
    return default_data()


def results_folder(out: Path | None) -> Path:
    """Return the results folder: the given one, else the default."""
    return out or default_results()


def show(tables: Sequence["Table"], figures: Sequence["Figure"], folder: Path) -> None:
    """Print tables, and write them and the figures below a folder."""
    from bench.reports.files import write_report
    from bench.reports.formats import to_console

    for table in tables:
        click.echo(to_console(table))
    click.echo("files:")
    for path in write_report(tables, figures, folder):
        click.echo(f"  {path}")
