"""What the commands over a grid do between their options and their exit code."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli.analysis_command import say
from bench.cli.options import default_data
from bench.plan.grid import PlannedCell, Request
from bench.plan.request import make_request
from bench.plan.shard import parse_shard

if TYPE_CHECKING:
    from bench.run.run_grid import Summary


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
        configurations=rest.pop("configurations"),
        control=rest.pop("control", None),
    )
    if rest.get("shard") is not None:
        rest["shard"] = parse_shard(rest["shard"])
    return request, rest


def planned_cells(
    request: Request, data: Path | None, out: Path, *, skip_missing: bool = False
) -> list[PlannedCell]:
    """Return every cell with its status; nothing is simulated, prepared or trained."""
    from bench.plan.data import check_all, check_simulated, check_splits
    from bench.plan.grid import plan

    if data is None and request.preset.simulated:
        manifests, problems = check_simulated(request.datasets), []
    else:
        manifests, problems = check_all(request.datasets, data or default_data(), skip_missing=skip_missing)
    manifests, unsplit = check_splits(manifests, request.data(), skip_missing=skip_missing)
    for problem in (*problems, *unsplit):
        click.echo(f"skipped: {problem}", err=True)
    return plan(request.only(list(manifests)), manifests, out)


def show_plan(cells: list[PlannedCell], out: Path, *, jobs: int, retry_failed: bool) -> None:
    """Print every cell with its status, the totals, and what is to be trained takes by the records there are."""
    from bench.plan.cost import (
        commonest_place,
        costs_from_records,
        describe_cost,
        describe_total,
        same_but_seed,
    )
    from bench.plan.grid import counts, to_train
    from bench.results.store import read_all

    records, _ = read_all(out)
    place = commonest_place(records)
    costs = {} if place is None else costs_from_records(records, place)
    width = max((len(planned.settings.model) for planned in cells), default=0)
    chosen = to_train(cells, retry_failed=retry_failed)
    for planned in cells:
        settings = planned.settings
        key = planned.cell.key[:12] if planned.cell else "-"
        cost = costs.get(same_but_seed(planned)) if planned in chosen else None
        which = f"seed {settings.seed}" if settings.candidate is None else f"try {settings.candidate}"
        click.echo(
            f"{settings.model:<{width}}  {settings.dataset:<9}  {which:<7}  {key:<12}  {planned.status}"
            f"{'' if cost is None else f'  {describe_cost(cost)}'}"
        )
    click.echo(counts(cells))
    if place is not None and chosen:
        for line in describe_total([costs.get(same_but_seed(planned)) for planned in chosen], jobs):
            click.echo(line)
        click.echo(
            f"by records of their kind on {place.device_name} with --threads {place.threads}; "
            "'bench plan' tries the others"
        )


def ready_data(request: Request, data: Path | None) -> Path:
    """Return the folder of the datasets; a preset on simulated data gets its cohorts simulated first."""
    if data is not None or not request.preset.simulated:
        return data or default_data()
    from bench.datasets.simulate.cohort import demo_root, ensure_demo

    for name in request.datasets:
        if ensure_demo(name):
            click.echo(f"simulated {name} in {demo_root() / name}", err=True)
    return demo_root()


def run_cells(request: Request, data: Path, out: Path, options: dict[str, Any]) -> "Summary":
    """Train the cells that are not done and say how it went."""
    from bench.run.resources import Resources
    from bench.run.run_grid import execute

    summary = execute(request, data, out, Resources(**options))
    click.echo(f"cells: {summary}", err=True)
    return summary


def has_all_models(request: Request) -> bool:
    """Tell whether the grid holds all the models that ``all`` stands for."""
    from bench.models import registry

    return set(registry.names(all_only=True)) <= set(request.models)


def measure(request: Request, out: Path, *, device: str, threads: int | None) -> None:
    """Measure the cost of the request's networks at one dataset's shape, ADFTD's where it is in the grid.

    Sizes are the preset's: assignments are for the cells.
    """
    from bench.analyses.efficiency.compute import measure_missing
    from bench.measure.measurement import place_of
    from bench.models import registry as models

    dataset = "adftd" if "adftd" in request.datasets else request.datasets[0]
    place = place_of(device, threads, None)
    networks = [name for name in request.models if not models.is_estimator(name)]
    measure_missing(out, networks, dataset, request.preset.name, place=place, say=say)
