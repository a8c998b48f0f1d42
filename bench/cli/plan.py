"""``bench plan``: Predict time and memory of a grid from short trials."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli.options import (
    FiniteRange,
    data_option,
    default_results,
    device_option,
    grid_options,
    out_option,
)

if TYPE_CHECKING:
    from bench.plan.grid import PlannedCell
    from bench.run.calibrate import Forecast


@click.command("plan")
@grid_options
@data_option
@out_option
@device_option
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Cells trained at the same time."
)
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="CPU threads per cell."
)
@click.option(
    "--ablation/--no-ablation",
    default=True,
    show_default=True,
    help="Plan MedMamba's three ablation variants on ADFTD too.",
)
@click.option("--shard", metavar="I/N", help="Only every N-th cell, from the I-th: for job arrays.")
@click.option("--skip-missing", is_flag=True, help="Skip datasets that are missing or cannot be split.")
@click.option("--retry-failed", is_flag=True, help="Count failed cells as cells to do.")
@click.option(
    "--budget",
    type=FiniteRange(min=0, min_open=True),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest time for the training steps of one trial.",
)
def command(data: Path | None, out: Path | None, budget: float, **options: Any) -> None:
    """Predict time and memory of the cells that are not done: from records, else from a short trial of each kind.

    \b
    bench plan --models all --datasets all --data DIR --jobs 2
    bench plan --preset demo --models medmamba
    """
    from bench.cli import over_grid as grid
    from bench.machine import available_bytes
    from bench.plan.cost import describe_total, memory_warning
    from bench.plan.data import check_all, check_splits
    from bench.plan.grid import counts, plan
    from bench.processes import fork_server
    from bench.run.calibrate import forecast
    from bench.run.display import make_display
    from bench.run.resources import Resources
    from bench.run.run_grid import prepare_all

    request, options = grid.split_request(options, data)
    root, results = grid.ready_data(request, data), out or default_results()
    manifests, problems = check_all(request.datasets, root, skip_missing=options["skip_missing"])
    resources = Resources(**options)
    # Before anything that cuts windows in processes of its own.
    fork_server()
    with make_display() as display:
        for problem in problems:
            display.say(f"skipped: {problem}")
        prepared = prepare_all(
            manifests, root, jobs=resources.jobs, allow_skipped=True, on_record=display.record
        )
        fit, problems = check_splits(prepared, request.data(), skip_missing=resources.skip_missing)
        for problem in problems:
            display.say(f"skipped: {problem}")
        cells = plan(request.only(list(fit)), fit, results)
        cells = cells if resources.shard is None else resources.shard.of(cells)
        found = forecast(cells, root, results, resources, budget_s=budget, say=display.say)
    click.echo(counts(cells))
    costs = [found.cost(planned) for planned in found.cells]
    for line in [*_kinds(found), *describe_total(costs, resources.jobs)]:
        click.echo(line)
    if found.device == "cpu":
        for line in memory_warning(costs, resources.jobs, available_bytes()):
            click.echo(line, err=True)


def _kinds(found: "Forecast") -> list[str]:
    """Return a line for the cells that differ by their seed only."""
    from bench.plan.cost import describe_cost, same_but_seed

    kinds: dict[str, list[PlannedCell]] = {}
    for planned in found.cells:
        kinds.setdefault(same_but_seed(planned), []).append(planned)
    width = max((len(planned.settings.model) for planned in found.cells), default=0)
    text = []
    for name, cells in kinds.items():
        settings, cost = cells[0].settings, found.costs.get(name)
        text_of = found.troubles.get(name, "unknown") if cost is None else describe_cost(cost)
        text.append(f"{settings.model:<{width}}  {settings.dataset:<9}  {len(cells):>3} cells  {text_of}")
    return text
