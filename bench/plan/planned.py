"""The cells that the last run of a results folder asked for, kept beside them for ``bench status``."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bench.datasets.formats.source_files import read_regular
from bench.errors import RecordError
from bench.files import atomic_file
from bench.plan.cell import cell_name
from bench.plan.grid import PlannedCell
from bench.results.json_record import first_fault, parse_json, reason_of
from bench.results.record import CellName, Sha256

FILE = "planned.json"


class PlannedName(BaseModel):
    """A cell that was asked for, and its key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cell: CellName
    key: Sha256


_NAMES = TypeAdapter(list[PlannedName])


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
    if not os.path.lexists(path):
        return []
    try:
        return _NAMES.validate_python(parse_json(read_regular(path)))
    except (OSError, ValueError) as error:
        reason = first_fault(error) if isinstance(error, ValidationError) else reason_of(error)
        raise RecordError(
            f"{path}: damaged ({reason}); the next run sets it aside and writes it again"
        ) from error
