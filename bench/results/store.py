"""The results folder: where the files of a cell lie, and the only place that reads or writes records."""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from bench.errors import RecordError
from bench.files import atomic_file, sha256_of
from bench.results.record import SCHEMA, CellName, Record

RECORD, PREDICTIONS, WEIGHTS, LOG = "record.json", "predictions.npz", "weights.safetensors", "log.txt"


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
        """What the cell printed."""
        return self.path / LOG


class NewerSchemaError(RecordError):
    """A record of a newer version of this package: nothing of it may be guessed at or overwritten."""


def write_record(folder: CellFolder, record: Record) -> None:
    """Write a record after all its other files, so that its presence means the cell is complete."""
    with atomic_file(folder.record) as path:
        path.write_text(record.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")


def read_record(path: Path) -> Record:
    """Read one record.

    Raises
    ------
    RecordError
        The file is not a record, or one of a newer version of this package.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordError(
            f"{path}: not readable as a record ({error}); remove the file to have the cell trained again"
        ) from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise NewerSchemaError(
            f"{path}: schema {schema} is newer than this version's {SCHEMA}; "
            "upgrade medmamba-bench or use another --out"
        )
    try:
        return Record.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RecordError(
            f"{path}: field '{where}': {first['msg']}; remove the file to have the cell trained again"
        ) from error


def is_complete(folder: CellFolder, record: Record) -> bool:
    """Tell whether all files that the record names are there with the hashes it gives."""
    return all(
        (folder.path / name).is_file() and sha256_of(folder.path / name) == digest
        for name, digest in record.files.items()
    )


def find_record(out: Path, cell: CellName, key: str) -> Record | None:
    """Return the valid record of a cell, or None when it is absent or damaged.

    Raises
    ------
    NewerSchemaError
        The record was written by a newer version of this package.
    """
    folder = CellFolder.of(out, cell, key)
    if not folder.record.exists():
        return None
    try:
        record = read_record(folder.record)
    except NewerSchemaError:
        raise
    except RecordError:
        return None
    return record if record.key == key and is_complete(folder, record) else None


def quarantine_damaged(out: Path, cell: CellName, key: str) -> Path | None:
    """Rename a record that is there but not valid, so that the cell is trained again; return its new path."""
    folder = CellFolder.of(out, cell, key)
    if not folder.record.exists() or find_record(out, cell, key) is not None:
        return None
    number = 1
    while (target := folder.path / f"damaged-{number}.json").exists():
        number += 1
    folder.record.replace(target)
    return target


def read_all(out: Path) -> tuple[list[Record], list[RecordError]]:
    """Return all readable records of a results folder, sorted by path, and an error for each that is not.

    Raises
    ------
    NewerSchemaError
        A record was written by a newer version of this package.
    """
    records, damaged = [], []
    for path in sorted((out / "cells").glob(f"*/*/*/{RECORD}")):
        try:
            records.append(read_record(path))
        except NewerSchemaError:
            raise
        except RecordError as error:
            damaged.append(error)
    return records, damaged


def require_writable(out: Path) -> None:
    """Refuse a results folder that cannot be written, before any work is done.

    Raises
    ------
    BenchError
        The folder cannot be created or written.
    """
    with atomic_file(out / ".writable") as path:
        path.write_text("", encoding="utf-8")
    (out / ".writable").unlink(missing_ok=True)
