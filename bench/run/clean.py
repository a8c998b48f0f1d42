"""Removing cells from a results folder: by how they ended, by model, by dataset."""

import shutil
from collections.abc import Sequence
from typing import get_args

from filelock import Timeout

from bench.results.record import Outcome
from bench.run.cell_lock import locked
from bench.run.status import CellStatus

ENDINGS = (*get_args(Outcome), "unfinished", "damaged")


def choose(
    cells: Sequence[CellStatus], endings: Sequence[str], models: Sequence[str], datasets: Sequence[str]
) -> list[CellStatus]:
    """Return the cells that have a folder, are not being trained, and match the given names; no names match all."""
    return [
        cell
        for cell in cells
        if cell.folder.path.is_dir()
        and cell.state != "running"
        and (not endings or cell.ending in endings)
        and (not models or cell.name.model in models)
        and (not datasets or cell.name.dataset in datasets)
    ]


def remove(cells: Sequence[CellStatus]) -> list[CellStatus]:
    """Delete the folders of cells; return the cells that were kept because a run trains them by now."""
    left = []
    for cell in cells:
        try:
            with locked(cell.folder):
                # The record is removed first, so that a half-removed cell counts as not done.
                cell.folder.record.unlink(missing_ok=True)
                shutil.rmtree(cell.folder.path)
        except Timeout:
            left.append(cell)
    return left
