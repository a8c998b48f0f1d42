"""What the commands over a grid do between their options and their exit code."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli.options import default_data
from bench.plan.grid import PlannedCell, Request
from bench.plan.request import make_request
from bench.plan.shard import parse_shard

if TYPE_CHECKING:
    from bench.run.grid import Summary


def split_request(options: dict[str, Any], data: Path | None) -> tuple[Request, dict[str, Any]]:
    """Take the grid's options out of all options; return the checked request and the rest."""
    rest = dict(options)
    request = make_request(
        models_text=rest.pop("models"),
        datasets_text=rest.pop("datasets"),
        seeds_text=rest.pop("seeds"),
        preset_name=rest.pop("preset"),
        recipe_name=rest.pop("recipe"),
        assignments=rest.pop("assignments"),
        data=data or default_data(),
        ablation=rest.pop("ablation", False),
    )
    if rest.get("shard") is not None:
        rest["shard"] = parse_shard(rest["shard"])
    return request, rest


def planned_cells(
    request: Request, data: Path | None, out: Path, *, skip_missing: bool = False
) -> list[PlannedCell]:
    """Return every cell with its status; nothing is simulated, prepared or trained."""
    from bench.plan.data import check_all, check_simulated
    from bench.plan.grid import plan

    if data is None and request.preset.simulated:
        manifests, problems = check_simulated(request.datasets), []
    else:
        manifests, problems = check_all(request.datasets, data or default_data(), skip_missing=skip_missing)
    for problem in problems:
        click.echo(f"skipped: {problem}", err=True)
    return plan(request.only(list(manifests)), manifests, out)


def show_plan(cells: list[PlannedCell], out: Path) -> None:
    """Print every cell with its status, the totals, and what the rest takes by the records there are."""
    from bench.plan.cost import expectation
    from bench.results.store import read_all

    width = max((len(one.settings.model) for one in cells), default=0)
    for one in cells:
        settings = one.settings
        key = one.cell.key[:12] if one.cell else "-"
        click.echo(
            f"{settings.model:<{width}}  {settings.dataset:<9}  seed {settings.seed}  {key:<12}  {one.status}"
        )
    counts = Counter(one.status for one in cells)
    click.echo(f"{len(cells)} cells: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
    expected = expectation(cells, read_all(out)[0])
    if expected is not None:
        click.echo(expected)


def ready_data(request: Request, data: Path | None) -> Path:
    """Return the folder of the datasets; a preset on simulated data gets its cohorts simulated first."""
    if data is not None or not request.preset.simulated:
        return data or default_data()
    from bench.datasets.cohort import demo_root, ensure_demo

    for name in request.datasets:
        if ensure_demo(name):
            click.echo(f"simulated {name} in {demo_root() / name}", err=True)
    return demo_root()


def run_cells(request: Request, data: Path, out: Path, options: dict[str, Any]) -> "Summary":
    """Train the cells that are not done and say how it went."""
    from bench.run.grid import Resources, execute

    summary = execute(request, data, out, Resources(**options))
    click.echo(f"cells: {summary}", err=True)
    return summary


def measure(request: Request, out: Path, preset_name: str) -> None:
    """Measure the cost of the request's models at one dataset's shape, ADFTD's where it is in the grid."""
    from bench.cli.measuring import measure_missing

    dataset = "adftd" if "adftd" in request.datasets else request.datasets[0]
    measure_missing(out, request.models, dataset, preset_name)
