"""What earlier and other runs of a results folder left: swept, taken over, or respected."""

from collections.abc import Sequence
from pathlib import Path

from bench.errors import RecordError
from bench.files import free_name, remove_abandoned
from bench.plan.cell import cell_name
from bench.plan.grid import PlannedCell
from bench.plan.planned import FILE, PlannedName, read_planned
from bench.results.store import CellFolder, write_record
from bench.results.twins import take_over
from bench.run.cell_lock import is_locked, sweep
from bench.run.ray_backend import SHARED_MARK


def sweep_old(out: Path) -> None:
    """Remove what runs of this results folder left at its top that were killed; a live one renews its files."""
    for pattern in (".*.tmp", f"{SHARED_MARK}*"):
        remove_abandoned(out, pattern)


def take_over_twins(cells: Sequence[PlannedCell], out: Path) -> None:
    """Give cells that another recipe has trained under the same key a record of their own.

    The record of a cell whose configuration won again among more of them is told so.
    """
    for planned in cells:
        record, settings = planned.record, planned.settings
        if planned.status != "done" or record is None:
            continue
        told = settings.model_dump(mode="json")
        if record.cell.recipe != settings.recipe:
            take_over(out, record, cell_name(settings), told)
        elif record.settings.get("tuned") != told["tuned"]:
            folder = CellFolder.of(out, record.cell, record.key)
            write_record(folder, record.model_copy(update={"settings": told}))


def tidy_done(cells: Sequence[PlannedCell], out: Path) -> None:
    """Remove the checkpoint of a process killed after writing its record."""
    for planned in cells:
        if planned.cell is not None and planned.status == "done":
            folder = CellFolder.of(out, cell_name(planned.settings), planned.cell.key)
            if not is_locked(folder):
                folder.checkpoint.unlink(missing_ok=True)
                sweep(folder)


def planned_by_others(out: Path) -> list[PlannedName]:
    """Return what the last run asked for if one of its cells is being trained: another run of this folder goes on.

    A damaged list is set aside, as nobody but its writer knew what was asked for; the next one takes its place.
    """
    try:
        names = read_planned(out)
    except RecordError:
        (out / FILE).rename(free_name(out, f"damaged-{{}}-{FILE}"))
        return []
    alive = any(is_locked(CellFolder.of(out, name.cell, name.key)) for name in names)
    return names if alive else []
