"""The cells that the last run of a results folder asked for, kept beside them for ``bench status``."""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bench.errors import RecordError
from bench.files import atomic_file
from bench.plan.cell import cell_name
from bench.plan.grid import PlannedCell
from bench.results.record import CellName

FILE = "planned.json"


class PlannedName(BaseModel):
    """A cell that was asked for, and its key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cell: CellName
    key: str


def write_planned(out: Path, cells: Sequence[PlannedCell], *, beside: Sequence[PlannedName] = ()) -> None:
    """Write the list of a run's cells, after the cells ``beside`` of another run that is still going on.

    Raises
    ------
    RecordError
        The results folder cannot be written.
    """
    own = [
        PlannedName(cell=cell_name(planned.settings), key=planned.cell.key)
        for planned in cells
        if planned.cell is not None
    ]
    names = {name.key + name.cell.recipe: name for name in (*beside, *own)}.values()
    text = json.dumps([name.model_dump(mode="json") for name in names], indent=0) + "\n"
    try:
        with atomic_file(out / FILE) as path:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(
            f"{out}: cannot be written ({error.strerror}); make room or choose another --out"
        ) from error


def read_planned(out: Path) -> list[PlannedName]:
    """Return the cells that the last run asked for; none if there was no run.

    Raises
    ------
    RecordError
        The file is damaged.
    """
    path = out / FILE
    if not path.exists():
        return []
    try:
        return [PlannedName.model_validate(name) for name in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, RecursionError, TypeError) as error:
        raise RecordError(f"{path}: damaged ({error}); remove it, the next run writes it anew") from error
