"""What the analyses of trained cells share on the command line: options, the cells and their data, printing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bench.cli.options import default_data, default_results, out_option

if TYPE_CHECKING:
    from bench.render.figure import Figure
    from bench.render.table import Table
    from bench.results.record import Record

Function = TypeVar("Function", bound=Callable[..., Any])


def trained_options(function: Function) -> Function:
    """Add ``--dataset`` and the options of `cells_options`."""
    dataset = click.option("--dataset", default="adftd", show_default=True, help="Of the trained cells.")
    return dataset(cells_options(function))


def cells_options(function: Function) -> Function:
    """Add ``--data``, ``--recipe`` and ``--out``: which trained cells an analysis takes."""
    for option in reversed(
        [
            click.option(
                "--data",
                type=click.Path(path_type=Path, file_okay=False),
                help="Folder with one sub-folder per dataset; cells trained on these data are taken. [default: the "
                "simulated data for cells trained on it, else $BENCH_DATA or the user's cache folder]",
            ),
            click.option("--recipe", help="Only cells of this recipe. [default: any]"),
            out_option,
        ]
    ):
        function = option(function)
    return function


def register_own(data: Path | None) -> None:
    """Register the imported datasets that lie where trained cells have their data."""
    from bench import datasets

    datasets.register_imported(data or default_data())


def chosen_groups(
    results: Path, model: str, dataset: str, data: Path | None, recipe: str | None
) -> "list[list[Record]]":
    """Return the cells of a model on a dataset in groups that differ in the seed alone, the one to analyse first.

    Parameters
    ----------
    results
        Results folder.
    model, dataset
        Of the cells.
    data
        Where given, cells trained on the data there are preferred to all others.
    recipe
        Where given, only its cells are taken.

    Raises
    ------
    UsageError
        The model or the dataset is unknown.
    RecordError
        There is no such cell.
    DataError
        The data are missing or unusable.
    """
    from bench import datasets
    from bench.analyses.trained import alike, trained_cells
    from bench.errors import RecordError

    register_own(data)
    datasets.entry(dataset)
    cells = trained_cells(results, model, dataset)
    groups = alike(one for one in cells if recipe in (None, one.cell.recipe))
    if not groups:
        raise RecordError(
            f"{results}: no trained {model} on {dataset} of recipe '{recipe}', only of "
            f"{', '.join(sorted({one.cell.recipe for one in cells}))}; choose another --recipe"
        )
    if data is not None:
        there = datasets.prepare(dataset, data).fingerprint
        groups.sort(key=lambda group: group[0].data.fingerprint != there)
    return groups


def chosen_cells(
    results: Path, model: str, dataset: str, data: Path | None, recipe: str | None
) -> "list[Record]":
    """Return the first of `chosen_groups`; say on stderr what it is where there are others."""
    from bench.analyses.analysed import AnalysedCells

    first, *others = chosen_groups(results, model, dataset, data, recipe)
    if others:
        taken = AnalysedCells.of(first)
        changed = f", changed: {taken.changes}" if taken.changes else ""
        click.echo(
            f"{model} on {dataset}: takes recipe {taken.recipe}{changed}, {taken.data.kind} data, seeds "
            f"{', '.join(map(str, taken.seeds))}; leaves out {len(others)} other groups of cells (choose by --recipe, "
            "--data or --out)",
            err=True,
        )
    return first


def root_for(records: Sequence["Record"], data: Path | None) -> Path:
    """Return the folder with the data that cells were trained on: the given one, else where such data lies."""
    if data is not None:
        return data
    if all(record.data.kind == "simulated" for record in records):
        from bench.datasets.simulate.cohort import demo_root

        return demo_root()
    return default_data()


def results_folder(out: Path | None) -> Path:
    """Return the results folder: the given one, else the default."""
    return out or default_results()


def show(tables: Sequence["Table"], figures: Sequence["Figure"], folder: Path) -> None:
    """Print tables, and write them and the figures below a folder."""
    from bench.render.files import write_report
    from bench.render.formats import to_console

    for table in tables:
        click.echo(to_console(table))
    click.echo("files:")
    for path in write_report(tables, figures, folder):
        click.echo(f"  {path}")
