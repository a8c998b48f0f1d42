"""``bench status``: Show what is done, running, failed and to do."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli.options import default_results, out_option
from bench.errors import RecordError

if TYPE_CHECKING:
    from bench.results.record import Scores
    from bench.run.status import CellStatus


@click.command("status")
@out_option
@click.option("--check", is_flag=True, help="Read every file of a cell and compare its hash.")
@click.option(
    "--json", "as_json", is_flag=True, help="One line of JSON per cell, with reason and scores (0 to 1)."
)
def command(out: Path | None, check: bool, as_json: bool) -> None:
    """Show what is done, running, failed and to do in a results folder, also while it is being filled.

    \b
    bench status
    bench status --out results --json
    """
    from bench.results.store import CONTROLS, TUNING
    from bench.run.status import cell_statuses

    results = out or default_results()
    if not results.is_dir():
        raise RecordError(f"{results}: no such results folder; give the one of a run with --out")
    roots = (results, results / TUNING, results / CONTROLS)
    cells = [cell for root in roots for cell in cell_statuses(root, hashed=check)]
    for line in _json_lines(cells) if as_json else _table(cells):
        click.echo(line)


def _json_lines(cells: "Sequence[CellStatus]") -> list[str]:
    return [
        json.dumps(
            cell.name.model_dump()
            | {
                "state": cell.state,
                "ending": cell.ending,
                "reason": cell.note,
                "scores": {part: _scores(scores) for part, scores in cell.scores.items()},
                "folder": str(cell.folder.path),
            }
        )
        for cell in cells
    ]


def _scores(scores: "Scores") -> dict[str, float | None]:
    """Return the scores that tables show, from 0 to 1."""
    from bench.results.metrics import METRICS

    return {metric: getattr(scores, metric) for metric in METRICS}


def _table(cells: "Sequence[CellStatus]") -> list[str]:
    """Return a row per dataset, how many are begun, the cells that are running, failed or damaged, and notes."""
    from bench.run.status import STATES

    datasets = list(dict.fromkeys(cell.name.dataset for cell in cells))
    width = max((len(name) for name in [*datasets, "dataset"]), default=0)
    lines = [f"{'dataset':<{width}}" + "".join(f"  {state:>7}" for state in STATES)]
    for name in [*datasets, "all"]:
        counts = Counter(cell.state for cell in cells if name in (cell.name.dataset, "all"))
        lines.append(f"{name:<{width}}" + "".join(f"  {counts[state]:>7}" for state in STATES))
    begun = [cell for cell in cells if cell.is_begun]
    if begun:
        n_kept = sum(cell.folder.checkpoint.exists() for cell in begun)
        lines.append(f"{len(begun)} begun; the next run continues after the last epoch of {n_kept}")
    for state in ("running", "failed"):
        chosen = [cell for cell in cells if cell.state == state]
        lines += [
            f"{state if state == 'running' else cell.ending}: {cell.label}  {cell.note}".rstrip()
            for cell in chosen
        ]
    noted = [cell for cell in cells if cell.ending == "damaged" or (cell.state == "done" and cell.note)]
    lines += [f"{cell.ending}: {cell.label}  {cell.note}" for cell in noted]
    return lines
