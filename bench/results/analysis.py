"""What all records of analyses share: their base, where they lie, and the only place that reads or writes them."""

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.errors import RecordError
from bench.files import atomic_file

FOLDER = "analyses"
REMEDY = "remove the file and analyze again"


class Part(BaseModel):
    """Base of the parts of a record: immutable, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class AnalysisRecord(Part):
    """Base of the record of one analysis. ``name`` is that of its folder, ``stem`` that of its file."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", populate_by_name=True)

    schema_version: Literal[1] = Field(alias="schema", default=1)
    created: str


AnyRecord = TypeVar("AnyRecord", bound=AnalysisRecord)


def write_analysis(out: Path, name: str, stem: str, record: AnalysisRecord) -> Path:
    """Write ``OUT/analyses/<name>/<stem>.json``; an earlier one of that name is replaced."""
    target = out / FOLDER / name / f"{stem}.json"
    with atomic_file(target) as path:
        path.write_text(record.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
    return target


def read_analyses(out: Path, name: str, kind: type[AnyRecord]) -> list[AnyRecord]:
    """Return all records of an analysis, sorted by file name; none where it was not run.

    Raises
    ------
    RecordError
        A file is not such a record, or one of a newer version of this package.
    """
    return [_read(path, kind) for path in sorted((out / FOLDER / name).glob("*.json"))]


def _read(path: Path, kind: type[AnyRecord]) -> AnyRecord:
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first: Any = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise RecordError(f"{path}: {where}: {first['msg']}; {REMEDY}") from error
    except OSError as error:
        raise RecordError(f"{path}: not readable ({error.strerror}); {REMEDY}") from error
