"""``bench analyze centralization``: the paper's two indices under every reading of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli.options import data_option, default_data, out_option, report_folder

if TYPE_CHECKING:
    from bench.analyses.centralization.record import CentralizationRecord


@click.command("centralization")
@click.option(
    "--datasets", default="all", show_default=True, help="Names, a comma list, or all that are there."
)
@data_option
@click.option("--simulated", is_flag=True, help="Use the demo's simulated data instead; Weather has none.")
@click.option(
    "--weather-window",
    type=click.IntRange(min=2),
    default=96,
    show_default=True,
    metavar="STEPS",
    help="Length of Weather's windows; the paper names none. A step is ten minutes.",
)
@click.option("--seed", default=41, show_default=True, help="Of the bootstrap.")
@out_option
def command(out: Path | None, data: Path | None, datasets: str, simulated: bool, **options: Any) -> None:
    """Measure how centralized signals are (SCI, DIC) and compare with the published table.

    \b
    bench analyze centralization --data DIR
    bench analyze centralization --datasets ptb-xl,weather --data DIR
    """
    from bench.analyses.centralization.report import centralization_report
    from bench.cli.analyses import results_folder, show

    measure_all(results_folder(out), data, datasets, simulated=simulated, **options)
    show(*centralization_report(results_folder(out)), report_folder(out))


def measure_all(
    out: Path, data: Path | None, names: str, *, simulated: bool, weather_window: int, seed: int
) -> None:
    """Measure every dataset asked for and write its record; of ``all`` those that are not there are named.

    Raises
    ------
    DataError
        A dataset asked for by name cannot be used, or there is none at all.
    """
    from bench import datasets
    from bench.analyses.centralization.compute import WEATHER, run_dataset, run_weather
    from bench.analyses.centralization.record import write_centralization
    from bench.datasets.simulate.cohort import demo_root, ensure_demo
    from bench.errors import DataError
    from bench.plan.select import parse_names
    from bench.results.store import require_writable

    require_writable(out)
    root = data or (demo_root() if simulated else default_data())
    datasets.register_imported(root)
    chosen = parse_names("dataset", names, datasets.names(), datasets.names())
    if simulated and names == "all":
        chosen.remove(WEATHER)
    n_measured = 0

    def measure(name: str) -> "CentralizationRecord":
        return run_weather(root, seed, weather_window) if name == WEATHER else run_dataset(name, root, seed)

    for name in chosen:
        if simulated and data is None:
            ensure_demo(name)
        try:
            record = measure(name)
        except DataError as error:
            if names != "all":
                raise
            click.echo(f"left out: {name}: {error}", err=True)
            continue
        n_measured += 1
        click.echo(f"measured {name}: {record.n_windows} windows", err=True)
        write_centralization(out, record)
    if not n_measured:
        raise DataError(f"{root}: none of {', '.join(chosen)} is there; give their folder with --data")
