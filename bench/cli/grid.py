"""What the commands over a grid do between their options and their exit code."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from bench.cli.options import default_data
from bench.plan.grid import PlannedCell, Request
from bench.plan.request import make_request


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
    )
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


def show_plan(cells: list[PlannedCell]) -> None:
    """Print every cell with its status and the totals."""
    width = max(len(one.settings.model) for one in cells)
    for one in cells:
        settings = one.settings
        key = one.cell.key[:12] if one.cell else "-"
        click.echo(
            f"{settings.model:<{width}}  {settings.dataset:<9}  seed {settings.seed}  {key:<12}  {one.status}"
        )
    counts = Counter(one.status for one in cells)
    click.echo(f"{len(cells)} cells: " + ", ".join(f"{n} {status}" for status, n in counts.items()))


def ready_data(request: Request, data: Path | None) -> Path:
    """Return the folder of the datasets; a preset on simulated data gets its cohorts simulated first."""
    if data is not None or not request.preset.simulated:
        return data or default_data()
    from bench.datasets.cohort import demo_root, ensure_demo

    for name in request.datasets:
        if ensure_demo(name):
            click.echo(f"simulated {name} in {demo_root() / name}", err=True)
    return demo_root()


def run_and_report(request: Request, data: Path, out: Path, report: Path, options: dict[str, Any]) -> int:
    """Run the grid, render the report, and return the exit code."""
    from bench.run.grid import Resources, execute

    summary = execute(request, data, out, Resources(**options))
    click.echo(f"cells: {summary}", err=True)
    if summary.n_bad < sum(summary.outcomes.values()):
        from bench.cli.report import render_and_print

        render_and_print(out, report)
    return 1 if summary.n_bad else 0
