"""Cells of equal key under other recipes' names: the same training, whose results are taken over."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.errors import RecordError
from bench.files import atomic_file
from bench.results.json_record import NewerSchemaError
from bench.results.record import CellName, Record
from bench.results.store import CellFolder, find_record, quarantine_damaged, read_record, write_record


def find_twin(out: Path, cell: CellName, key: str) -> Record | None:
    """Return the finished record of the same key under another recipe, or None.

    Raises
    ------
    NewerSchemaError
        A record was written by a newer version of this package.
    """
    own = CellFolder.of(out, cell, key)
    for path in sorted(own.path.parent.glob(f"*-s{cell.seed}-{key[:12]}/{own.record.name}")):
        try:
            name = read_record(path).cell
        except NewerSchemaError:
            raise
        except RecordError:
            continue
        found = find_record(out, name, key) if path.parent != own.path else None
        if found is not None and found.is_done:
            return found
    return None


def take_over(out: Path, twin: Record, cell: CellName, settings: Mapping[str, Any]) -> Record:
    """Give a cell the results of its twin; return the record that was written.

    Predictions and weights are hard links where the file system has them.

    Parameters
    ----------
    out
        Results folder.
    twin
        A finished record of the same key.
    cell, settings
        Name and settings for the new record.
    """
    source, target = (CellFolder.of(out, name, twin.key) for name in (twin.cell, cell))
    quarantine_damaged(out, cell, twin.key)
    target.path.mkdir(parents=True, exist_ok=True)
    for name in twin.files:
        _link(source.path / name, target.path / name)
    log = source.log.read_text(encoding="utf-8", errors="replace") if source.log.is_file() else ""
    with atomic_file(target.log) as path:
        path.write_text(f"{log}taken over from {source.path.name}: its key is the same\n", encoding="utf-8")
    record = twin.model_copy(update={"cell": cell, "settings": dict(settings)})
    write_record(target, record)
    return record


def _link(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        with atomic_file(target) as path:
            shutil.copyfile(source, path)
