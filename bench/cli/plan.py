"""``bench plan``: what a grid will cost on this device."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli.options import data_option, default_results, grid_options, out_option

if TYPE_CHECKING:
    from bench.plan.cost import Cost
    from bench.plan.grid import PlannedCell
    from bench.run.calibrate import Forecast


@click.command("plan")
@grid_options
@data_option
@out_option
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Cells at once.")
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="CPU threads per cell."
)
@click.option(
    "--ablation/--no-ablation", default=True, show_default=True, help="MedMamba's variants on ADFTD."
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="For the training steps of one trial.",
)
def command(data: Path | None, out: Path | None, budget: float, **options: Any) -> None:
    """Predict time and memory of the cells that are not done: from records, else from a short trial of each kind.

    \b
    bench plan --models all --datasets all --data DIR --jobs 2
    bench plan --preset demo --models medmamba
    """
    from bench.cli import grid
    from bench.plan.data import check_all
    from bench.plan.grid import plan
    from bench.run.calibrate import forecast
    from bench.run.data import prepare_all
    from bench.run.display import make_display
    from bench.run.grid import Resources

    request, options = grid.split_request(options, data)
    root, results = grid.ready_data(request, data), out or default_results()
    manifests, _ = check_all(request.datasets, root, skip_missing=False)
    with make_display(0) as display:
        prepared = prepare_all(
            manifests, root, jobs=options["jobs"], allow_skipped=False, on_record=display.record
        )
        cells = plan(request, prepared, results)
        found = forecast(cells, root, results, Resources(**options), budget_s=budget, say=display.say)
    click.echo(f"{len(cells)} cells, {len(cells) - len(found.cells)} of them done or failed before")
    for line in lines(found, options["jobs"]):
        click.echo(line)


def lines(found: "Forecast", n_workers: int) -> list[str]:
    """Return a line for each kind of cell, and the totals."""
    from bench.plan.cost import duration, wall_time_s

    text = _kinds(found)
    known = [cost for one in found.cells if (cost := found.cost(one)) is not None]
    seconds = [cost.seconds for cost in known]
    wall = wall_time_s(seconds, n_workers)
    doubt = sum(cost.seconds * cost.doubt for cost in known) / max(sum(seconds), 1e-9)
    most = max((cost.memory_bytes or 0 for cost in known), default=0)
    text.append(
        f"in all: {duration(sum(seconds))} of cells, {duration(wall)} with --jobs {n_workers} "
        f"(from {duration(wall / (1 + doubt))} to {duration(wall * (1 + doubt))}), "
        f"at most {most / 2**30:.1f} GiB a cell"
    )
    if len(known) < len(found.cells):
        text.append(f"not counted: {len(found.cells) - len(known)} cells whose cost is unknown")
    return text


def _kinds(found: "Forecast") -> list[str]:
    """Return a line for the cells that differ by their seed only."""
    from bench.plan.cost import likeness

    kinds: dict[str, list[PlannedCell]] = {}
    for one in found.cells:
        kinds.setdefault(likeness(one), []).append(one)
    width = max((len(one.settings.model) for one in found.cells), default=0)
    text = []
    for name, cells in kinds.items():
        settings, cost = cells[0].settings, found.costs.get(name)
        told = found.troubles.get(name, "unknown") if cost is None else _told(cost)
        text.append(f"{settings.model:<{width}}  {settings.dataset:<9}  {len(cells):>3} cells  {told}")
    return text


def _told(cost: "Cost") -> str:
    from bench.plan.cost import duration

    bound = "at most " if cost.at_most else ""
    memory = "" if cost.memory_bytes is None else f"{cost.memory_bytes / 2**30:5.1f} GiB, "
    return (
        f"{bound}{duration(cost.seconds)} each, {memory}give or take {100 * cost.doubt:.0f} % ({cost.source})"
    )
