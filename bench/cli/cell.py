"""``bench cell``: Train one cell in this process and its peers; started by torchrun (docs/grid.md), not by hand."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli.options import data_option, default_results, device_option, grid_options, out_option
from bench.errors import UsageError

if TYPE_CHECKING:
    from bench.plan.grid import PlannedCell


@click.command("cell")
@click.argument("key")
@grid_options
@data_option
@out_option
@device_option
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="CPU threads per process."
)
@click.option(
    "--deterministic", is_flag=True, help="On CUDA use deterministic algorithms only; the record says so."
)
def command(
    key: str,
    data: Path | None,
    out: Path | None,
    device: str,
    threads: int,
    deterministic: bool,
    **options: Any,
) -> None:
    """Train the one cell whose key begins with KEY, with all processes that torchrun started: one per GPU.

    docs/grid.md says for which models the result differs from that of a single process.

    \b
    bench run --dry-run --models medmamba --datasets adftd --seeds 41          shows the keys
    torchrun --nproc-per-node 2 -m bench cell KEY --models medmamba --datasets adftd --seeds 41
    """
    from bench.cli import over_grid as grid
    from bench.measure.environment import resolve_device
    from bench.run.distributed import differs_because, run_together
    from bench.run.job import make_jobs
    from bench.run.resources import Resources

    if "RANK" not in os.environ:
        raise UsageError(
            "bench cell: not started by torchrun; torchrun --nproc-per-node 2 -m bench cell KEY ..."
        )
    request, _ = grid.split_request({**options, "ablation": True}, data)
    results, root = out or default_results(), grid.ready_data(request, data)
    planned = find(grid.planned_cells(request, data, results, skip_missing=True), key)
    if planned.status == "done":
        click.echo(f"{key}: done already", err=True)
        return
    if planned.settings.is_estimator:
        raise UsageError(
            f"{key}: {planned.settings.model} is an estimator, fitted by one process: 'bench run'"
        )
    resources = Resources(threads=threads, deterministic=deterministic)
    (job,) = make_jobs([planned], root, results, resources, resolve_device(device))
    reason = differs_because(planned.settings.model)
    if reason is not None and os.environ["RANK"] == "0":
        click.echo(f"not what one process would give, not even up to rounding: {reason}", err=True)
    record = run_together(job, lambda _: None)
    if record is not None and record.metrics is not None:
        click.echo(f"{job.cell.label}: test F1 {100 * record.metrics.test.f1:.2f}, {job.folder.path}")


def find(cells: "Sequence[PlannedCell]", key: str) -> "PlannedCell":
    """Return the cell whose key begins with a text.

    Raises
    ------
    UsageError
        There is none, or more than one.
    """
    found = [cell for cell in cells if cell.cell is not None and cell.cell.key.startswith(key)]
    if len(found) != 1:
        raise UsageError(
            f"KEY {key!r}: {len(found)} prepared cells of this request have it; 'bench run --dry-run' shows them, "
            "'bench data prepare' prepares their data"
        )
    return found[0]
