"""The files of analysis records; no other module reads or writes them."""

from pathlib import Path
from typing import Any

from bench.analyses.contract import Analysis, SavedRecord
from bench.errors import RecordError
from bench.results.json_record import read_json_record, write_json_record

SCHEMA = 1
REMEDY = "remove the file and analyze again"


def write(out: Path, analysis: Analysis, record: SavedRecord) -> Path:
    """Write a record below a results folder; an earlier record of the same stem is replaced, even in another file."""
    folder = analysis.folder_in(out)
    target = folder / f"{record.stem}.json"
    write_json_record(target, record)  # pyright: ignore[reportArgumentType]
    for path in folder.rglob("*.json"):
        if path != target and _stem_of(path, analysis) == record.stem:
            path.unlink()
    return target


def read(out: Path, analysis: Analysis) -> tuple[list[Any], list[RecordError]]:
    """Return the readable records of an analysis, sorted by path, and an error for each unreadable file."""
    records, damaged = [], []
    for path in sorted(analysis.folder_in(out).rglob("*.json")):
        try:
            records.append(_read_one(path, analysis))
        except RecordError as error:
            damaged.append(error)
    return records, damaged


def _read_one(path: Path, analysis: Analysis) -> Any:
    return read_json_record(path, analysis.record, schema=SCHEMA, remedy=REMEDY)


def _stem_of(path: Path, analysis: Analysis) -> str | None:
    try:
        return _read_one(path, analysis).stem
    except RecordError:
        return None
