"""Reading and writing records of one JSON file each: written whole or not at all, validated when read."""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from bench.datasets.contract import as_one_line
from bench.datasets.formats.source_files import read_regular
from bench.errors import RecordError
from bench.files import atomic_file

AnyRecord = TypeVar("AnyRecord", bound=BaseModel)

# No record nests deeper than 8, and no number in one is near these.
_DEEPEST = 32
_LARGEST_INT, _LARGEST = 2**64, 1e100


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
        content = read_regular(path)
    except OSError as error:
        raise RecordError(f"{path}: not readable as a record ({reason_of(error)}); {remedy}") from error
    return json_record_of(content, str(path), kind, schema=schema, remedy=remedy)


def json_record_of(
    content: bytes, where: str, kind: type[AnyRecord], *, schema: int, remedy: str
) -> AnyRecord:
    """Return the record that the content of a file is; ``where`` names the file in messages.

    Raises
    ------
    NewerSchemaError, RecordError
        As `read_json_record`.
    """
    try:
        value = parse_json(content)
    except ValueError as error:
        raise RecordError(f"{where}: not readable as a record ({reason_of(error)}); {remedy}") from error
    found = value.get("schema") if isinstance(value, dict) else None
    if isinstance(found, int) and found > schema:
        raise NewerSchemaError(
            f"{where}: schema {found} is newer than this version's {schema}; "
            "upgrade medmamba-bench or use another --out"
        )
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise RecordError(f"{where}: {first_fault(error)}; {remedy}") from error


def reason_of(error: Exception) -> str:
    """Return why a file cannot be read, as one line without its name."""
    return as_one_line(str(error.strerror or error) if isinstance(error, OSError) else str(error))


def first_fault(error: ValidationError) -> str:
    """Return the first field that is not as it should be and why, as one line."""
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    where = f"field '{field[:200]}'" if field else "as a whole"
    return as_one_line(f"{where}: {first['msg'].removeprefix('Value error, ')}")


def parse_json(content: bytes) -> Any:
    """Return what JSON of a stranger says: text of UTF-8 with finite numbers of ordinary size, nested as records are.

    Raises
    ------
    ValueError
        It is no such JSON; the message is one line.
    """
    try:
        value = json.loads(
            content.decode("utf-8"), parse_int=_whole, parse_float=_finite, parse_constant=_refuse
        )
    except RecursionError as error:
        raise ValueError(f"nested deeper than {_DEEPEST} levels") from error
    _require_plain(value, _DEEPEST)
    return value


def _whole(text: str) -> int:
    number = int(text) if len(text) < 25 else _LARGEST_INT
    if abs(number) >= _LARGEST_INT:
        raise ValueError(f"the number {text[:25]} is too large")
    return number


def _finite(text: str) -> float:
    number = float(text)
    if abs(number) > _LARGEST:
        raise ValueError(f"the number {text[:25]} is too large")
    return number


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _require_plain(value: Any, levels: int) -> None:
    """Refuse what nests too deep, and halves of characters, which no file can hold."""
    if not levels:
        raise ValueError(f"nested deeper than {_DEEPEST} levels")
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for item in value:
            _require_plain(item, levels - 1)
    elif isinstance(value, dict):
        for name, item in value.items():
            name.encode()
            _require_plain(item, levels - 1)
