"""``bench run``: the grid."""

from pathlib import Path
from typing import Any

import click

from bench.cli.options import data_option, default_results, grid_options, out_option, report_folder


@click.command("run")
@grid_options
@data_option
@out_option
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Cells at once.")
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="CPU threads per cell."
)
@click.option(
    "--cell-timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Per cell."
)
@click.option("--dry-run", is_flag=True, help="Show the cells and what is done; train nothing.")
@click.option("--skip-missing", is_flag=True, help="Run the datasets that are there.")
@click.option("--allow-skipped", is_flag=True, help="Accept more than 1 percent of damaged records.")
@click.option("--retry-failed", is_flag=True, help="Train cells again whose record says they failed.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first cell that fails.")
def command(data: Path | None, out: Path | None, dry_run: bool, **options: Any) -> None:
    """Train the cells of a grid that are not done, then render the report.

    \b
    bench run --preset demo
    bench run --models medmamba,transformer --datasets ptb-xl --data DIR --seeds 41 --set epochs=3
    bench run --models all --datasets all --data DIR --jobs 2
    """
    from bench.cli import grid

    request, options = grid.split_request(options, data)
    results = out or default_results()
    if dry_run:
        grid.show_plan(grid.planned_cells(request, data, results, skip_missing=options["skip_missing"]))
    else:
        root = grid.ready_data(request, data)
        raise SystemExit(grid.run_and_report(request, root, results, report_folder(out), options))
