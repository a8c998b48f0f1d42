"""The results folder: the files of a cell, and the only module that reads or writes records."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.errors import RecordError
from bench.files import free_name, sha256_of, unwritable
from bench.results.json_record import NewerSchemaError, read_json_record, write_json_record
from bench.results.record import PREDICTIONS, SCHEMA, WEIGHTS, CellName, Record

RECORD, LOG = "record.json", "log.txt"
TUNING = "tuning"
"""The folder, inside a results folder, of trainings that tried configurations; it is laid out like the other."""
CONTROLS = "controls"
"""The folder, inside a results folder, of trainings from which nothing can be learned; laid out like the other."""
REMEDY = "remove the file to train the cell again"


@dataclass(frozen=True)
class CellFolder:
    """The names of a cell's files."""

    path: Path

    @classmethod
    def of(cls, out: Path, cell: CellName, key: str) -> "CellFolder":
        """Return the folder of a cell below a results folder."""
        return cls(out / "cells" / cell.dataset / cell.model / f"{cell.recipe}-s{cell.seed}-{key[:12]}")

    @property
    def record(self) -> Path:
        """The record, written last: a cell without it has not finished."""
        return self.path / RECORD

    @property
    def predictions(self) -> Path:
        """Logits, labels, subjects, records and positions of all test windows."""
        return self.path / PREDICTIONS

    @property
    def weights(self) -> Path:
        """The checkpoint that was tested."""
        return self.path / WEIGHTS

    def fitted(self, writer: str) -> Path:
        """Return the file of a fitted estimator, named after the package that writes it."""
        return self.path / f"fitted.{writer}"

    @property
    def checkpoint(self) -> Path:
        """The state of an unfinished training; removed when the record is written."""
        return self.path / "checkpoint.pt"

    @property
    def lock(self) -> Path:
        """Held by the worker that trains the cell."""
        return self.path / ".lock"

    @property
    def log(self) -> Path:
        """The output of the cell."""
        return self.path / LOG


def write_record(folder: CellFolder, record: Record) -> None:
    """Write a record after all its other files, so that its presence means the cell is complete."""
    write_json_record(folder.record, record)


def read_record(path: Path) -> Record:
    """Read one record.

    Raises
    ------
    NewerSchemaError
        The record was written by a newer version of this package.
    RecordError
        The file is not a record, or is the record of a cell of another place.
    """
    record = read_json_record(path, Record, schema=SCHEMA, remedy=REMEDY)
    require_place(record, path)
    return record


def require_place(record: Record, path: Path) -> None:
    """Refuse the record of a cell of another place than its file's.

    Raises
    ------
    RecordError
        Model, dataset, seed, recipe or key give another path.
    """
    place = CellFolder.of(Path(), record.cell, record.key).path
    if path.absolute().parent.parts[-len(place.parts) :] != place.parts:
        raise RecordError(f"{path}: is the record of {place}; put it there, or {REMEDY}")


def is_complete(folder: CellFolder, record: Record) -> bool:
    """Tell whether all files named by the record exist with their hashes."""
    return not any(_damaged_files(folder, record.files))


def _damaged_files(folder: CellFolder, hashes: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that are absent or have another hash."""
    for name, digest in hashes.items():
        path = folder.path / name
        if not path.is_file() or sha256_of(path) != digest:
            yield path


def find_record(out: Path, cell: CellName, key: str) -> Record | None:
    """Return the valid record of a cell, or None when it is absent or damaged.

    Raises
    ------
    NewerSchemaError
        The record was written by a newer version of this package.
    """
    folder = CellFolder.of(out, cell, key)
    if not os.path.lexists(folder.record):
        return None
    try:
        record = read_record(folder.record)
    except NewerSchemaError:
        raise
    except RecordError:
        return None
    return record if record.key == key and is_complete(folder, record) else None


def quarantine_damaged(out: Path, cell: CellName, key: str) -> list[Path]:
    """Set aside the damaged files of a cell with a record, so that it is trained again; return the new paths.

    The record is set aside with any file of its own whose hash differs, since it describes that file.
    """
    folder = CellFolder.of(out, cell, key)
    if not os.path.lexists(folder.record) or find_record(out, cell, key) is not None:
        return []
    try:
        names = read_record(folder.record).files
    except NewerSchemaError:
        raise
    except RecordError:
        names = {}
    damaged = [path for path in _damaged_files(folder, names) if path.exists()]
    return [set_aside(path) for path in (*damaged, folder.record)]


def set_aside(path: Path) -> Path:
    """Rename a damaged file to the first free ``damaged-N-<its name>`` beside it; return that path."""
    return path.replace(free_name(path.parent, f"damaged-{{}}-{path.name}"))


def read_all(out: Path) -> tuple[list[Record], list[RecordError]]:
    """Return all usable records of a results folder, sorted by path, and an error for each other one.

    A record of a newer version is among the unreadable: it costs no other record. So is the record of a control,
    wherever it lies: it is no result, see `read_controls`.

    Raises
    ------
    RecordError
        The folder of cells is none, or cannot be listed.
    """

    def fault(record: Record) -> str:
        if record.control is not None:
            return f"is a control with {record.control} and no result; move it to {CONTROLS}/"
        if record.validation is not None and out.name != TUNING:
            return f"has no test scores, as it tried a configuration; move it to {TUNING}/"
        return ""

    return _read(out, fault)


def read_controls(out: Path) -> tuple[list[Record], list[RecordError]]:
    """Return the usable records of a results folder's controls, sorted by path, and an error for each other one.

    Raises
    ------
    RecordError
        The folder of cells is none, or cannot be listed.
    """

    def fault(record: Record) -> str:
        return "" if record.control is not None else f"is no control; move it out of {CONTROLS}/"

    return _read(out / CONTROLS, fault)


def _read(out: Path, fault: Callable[[Record], str]) -> tuple[list[Record], list[RecordError]]:
    """Return the records without a fault, and an error for each other one."""
    records, damaged = [], []
    for folder in cell_folders(out):
        if not os.path.lexists(folder.record):
            continue
        try:
            record = read_record(folder.record)
            reason = fault(record)
            if reason:
                raise RecordError(f"{folder.record}: {reason}")
            records.append(record)
        except RecordError as error:
            damaged.append(error)
    return records, damaged


def cell_folders(out: Path) -> list[CellFolder]:
    """Return the folders of all cells, with a record or without, sorted by path; files beside them are ignored.

    Raises
    ------
    RecordError
        The folder of cells is none, or one cannot be listed.
    """
    folders = [out / "cells"]
    if not os.path.lexists(folders[0]):
        return []
    for _ in ("datasets", "models", "cells"):
        folders = [path for folder in folders for path in _inside(folder) if path.is_dir()]
    return [CellFolder(path) for path in sorted(folders)]


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(
            f"{folder}: cannot be listed ({reason}); a folder of cells belongs there: move away what is there, or "
            "get permission to read it"
        ) from error


def require_writable(out: Path) -> None:
    """Refuse a results folder that cannot be written, before any work is done.

    Raises
    ------
    BenchError
        The folder cannot be created or written, or its folder of cells is none.
    """
    cell_folders(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        # The file has no name, so nothing is left of it if this process is killed.
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise unwritable(out, error) from error
