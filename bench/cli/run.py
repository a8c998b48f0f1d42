"""``bench run``: Train the cells of a grid that are not done, then report."""

from pathlib import Path
from typing import Any

import click

from bench.cli.controls import CONTROLS, probe_subjects, show_shuffled
from bench.cli.options import (
    FiniteRange,
    data_option,
    default_results,
    device_option,
    grid_options,
    out_option,
    report_folder,
)
from bench.cli.report import render_and_print
from bench.estimators.keep_fitted import WRITERS, require_writer


@click.command("run")
@grid_options
@data_option
@out_option
@device_option
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Cells trained at the same time."
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="CPU threads per cell, and for measuring the models' cost. [default: 1 per cell, all cores for measuring]",
)
@click.option(
    "--cell-timeout", type=FiniteRange(min=0, min_open=True), metavar="SECONDS", help="Time limit of a cell."
)
@click.option("--shard", metavar="I/N", help="Only every N-th cell, from the I-th: for job arrays.")
@click.option(
    "--backend",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Processes of this machine, or tasks of a Ray cluster.",
)
@click.option("--address", help="Address of the Ray cluster. [default: a local cluster]")
@click.option(
    "--deterministic", is_flag=True, help="On CUDA use deterministic algorithms only; the record says so."
)
@click.option(
    "--ablation/--no-ablation",
    default=True,
    show_default=True,
    help="Train MedMamba's three ablation variants on ADFTD too.",
)
@click.option(
    "--efficiency/--no-efficiency",
    default=None,
    help="Measure the models' cost after the cells. [default: with --models all]",
)
@click.option(
    "--control",
    type=click.Choice(CONTROLS),
    help="Run a control: train on shuffled labels, or probe trained models for who the subject is.",
)
@click.option(
    "--keep-fitted",
    type=click.Choice(WRITERS),
    help="Write each estimator that this run fits beside its record. joblib writes pickles; loading one runs code.",
)
@click.option("--dry-run", is_flag=True, help="Show the cells and what is done; train nothing.")
@click.option("--skip-missing", is_flag=True, help="Skip datasets that are missing or cannot be split.")
@click.option("--allow-skipped", is_flag=True, help="Accept more than 1 percent of damaged records.")
@click.option("--retry-failed", is_flag=True, help="Train failed cells again.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first cell that fails.")
def command(data: Path | None, out: Path | None, dry_run: bool, **options: Any) -> None:
    """Train the cells of a grid that are not done, measure the models' cost, and render the report.

    The printed tables show the cells of this grid; the report shows all cells of the results folder.

    With medmamba and adftd in the grid, MedMamba's three ablation variants are trained on adftd too.

    \b
    bench run --preset demo
    bench run --models medmamba,transformer --datasets ptb-xl --data DIR --seeds 41 --set epochs=20
    bench run --models all --datasets all --data DIR --jobs 2
    bench run --models medmamba --datasets adftd --data DIR --control shuffled-labels
    """
    from bench.cli import over_grid as grid
    from bench.processes import fork_server

    wanted, threads = options.pop("efficiency"), options["threads"]
    options["threads"] = threads or 1
    if options["keep_fitted"] is not None:
        require_writer(options["keep_fitted"])
    results = out or default_results()
    if options["control"] == "subject-probe":
        probe_subjects(click.get_current_context(), results)
        return
    control = options["control"]
    request, options = grid.split_request(options, data)
    if dry_run:
        cells = grid.planned_cells(request, data, results, skip_missing=options["skip_missing"])
        cells = cells if options["shard"] is None else options["shard"].of(cells)
        grid.show_plan(cells, results, jobs=options["jobs"], retry_failed=options["retry_failed"])
        return
    if options["backend"] == "local":
        # Its imports go on while cohorts are simulated.
        fork_server()
    summary = grid.run_cells(request, grid.ready_data(request, data), results, options)
    # The tasks of an array would write one report at once: 'bench report' follows when all are done.
    if control and options["shard"] is None:
        show_shuffled(results, out)
    elif options["shard"] is None and summary.n_bad < summary.n_cells:
        measured = grid.has_all_models(request) if wanted is None else wanted
        if measured and not (options["fail_fast"] and summary.n_bad):
            grid.measure(request, results, device=options["device"], threads=threads)
        render_and_print(results, report_folder(out), summary.keys)
    raise SystemExit(1 if summary.n_bad else 0)
