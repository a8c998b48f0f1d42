"""The state of every cell of a results folder, read from its files, also while a run writes them."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.errors import RecordError
from bench.files import is_plain_name
from bench.plan.planned import read_planned
from bench.results.record import CellName, Record, Scores
from bench.results.store import CellFolder, cell_folders, is_complete, read_record
from bench.run.cell_lock import is_locked
from bench.run.failure import last_lines

State = Literal["done", "running", "failed", "to do"]
STATES: tuple[State, ...] = ("done", "running", "failed", "to do")

_FOLDER = re.compile(r"(?P<recipe>.+)-s(?P<seed>[0-9]{1,19})-[0-9a-f]{12}")


@dataclass(frozen=True)
class CellStatus:
    """The status of one cell, from its folder.

    ``ending`` is the outcome of its record, ``unfinished``, ``damaged``, or ``-`` without any file; ``note`` is
    the last message of the cell's log or record; ``record`` is that of a cell that is done.
    """

    name: CellName
    folder: CellFolder
    state: State
    ending: str
    note: str = ""
    record: Record | None = None

    @property
    def is_begun(self) -> bool:
        """Whether the cell was begun, is not finished, and no process is at it."""
        return self.state == "to do" and self.ending == "unfinished"

    @property
    def scores(self) -> dict[str, Scores]:
        """The scores of a cell that is done, by part: a tried configuration has those of its validation part alone."""
        record = self.record
        if record is None:
            return {}
        if record.metrics is not None:
            return {"validation": record.metrics.val, "test": record.metrics.test}
        return {} if record.validation is None else {"validation": record.validation}

    @property
    def label(self) -> str:
        """The cell's name in messages."""
        return f"{self.name.model} / {self.name.dataset} / seed {self.name.seed}"


def cell_statuses(out: Path, *, hashed: bool = False) -> list[CellStatus]:
    """Return the status of every cell that the last run asked for or that has a folder.

    The files named by a record must exist; their hashes are compared only if asked, which takes long.

    Raises
    ------
    NewerSchemaError
        A record was written by a newer version of this package.
    """
    cells = {
        CellFolder.of(out, planned.cell, planned.key).path: planned.cell for planned in read_planned(out)
    }
    cells |= dict(_folders(out))
    return [_status(CellFolder(path), name, hashed) for path, name in cells.items()]


def _folders(out: Path) -> Iterator[tuple[Path, CellName]]:
    """Yield the folders named as a cell's are; a record in any other is in the wrong place, and left alone."""
    for folder in cell_folders(out):
        match = _FOLDER.fullmatch(folder.path.name)
        dataset, model = folder.path.parts[-3:-1]
        if match is not None and all(map(is_plain_name, (dataset, model, match["recipe"]))):
            yield (
                folder.path,
                CellName(model=model, dataset=dataset, seed=int(match["seed"]), recipe=match["recipe"]),
            )


def _status(folder: CellFolder, name: CellName, hashed: bool) -> CellStatus:
    if is_locked(folder):
        return CellStatus(name, folder, "running", "unfinished", _last_line(folder))
    if not os.path.lexists(folder.record):
        there = folder.path.is_dir()
        note = "goes on from its checkpoint" if folder.checkpoint.exists() else ""
        return CellStatus(name, folder, "to do", "unfinished" if there else "-", note)
    try:
        record = read_record(folder.record)
    except RecordError as error:
        return CellStatus(name, folder, "to do", "damaged", str(error))
    missing = [file for file in record.files if not (folder.path / file).is_file()]
    if missing:
        return CellStatus(name, folder, "to do", "damaged", f"{', '.join(missing)} is gone")
    if hashed and not is_complete(folder, record):
        return CellStatus(name, folder, "to do", "damaged", "a file is not what its record says")
    if record.is_done:
        others = sorted(path.name for path in folder.path.glob("differs-*.json"))
        note = f"another process found other scores: {', '.join(others)}" if others else ""
        return CellStatus(name, folder, "done", record.outcome, note, record)
    error = record.error
    return CellStatus(
        name, folder, "failed", record.outcome, f"{error.kind}: {error.message}" if error else ""
    )


def _last_line(folder: CellFolder) -> str:
    return last_lines(folder).rpartition("\n")[2]
