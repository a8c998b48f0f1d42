"""Reading and writing records of one JSON file each: written whole or not at all, validated when read."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from bench.errors import RecordError
from bench.files import atomic_file

AnyRecord = TypeVar("AnyRecord", bound=BaseModel)


class NewerSchemaError(RecordError):
    """A record of a newer version of this package, which must be neither interpreted nor overwritten."""


def write_json_record(target: Path, record: BaseModel) -> Path:
    """Write a record to a file and return its path; an earlier one there is replaced."""
    with atomic_file(target) as path:
        path.write_text(record.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
    return target


def read_json_record(path: Path, kind: type[AnyRecord], *, schema: int, remedy: str) -> AnyRecord:
    """Read one record.

    Raises
    ------
    NewerSchemaError
        The record is of a newer version than ``schema``.
    RecordError
        The file is not such a record; the message ends with ``remedy``.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordError(f"{path}: not readable as a record ({error}); {remedy}") from error
    found = content.get("schema") if isinstance(content, dict) else None
    if isinstance(found, int) and found > schema:
        raise NewerSchemaError(
            f"{path}: schema {found} is newer than this version's {schema}; "
            "upgrade medmamba-bench or use another --out"
        )
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        where = f"field '{field}'" if field else "as a whole"
        raise RecordError(f"{path}: {where}: {first['msg']}; {remedy}") from error
