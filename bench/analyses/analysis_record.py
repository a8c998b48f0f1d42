"""What all records of analyses share: their base, and where they lie."""

from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from bench.results.json_record import read_json_record, write_json_record

SCHEMA = 1
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
    return write_json_record(out / FOLDER / name / f"{stem}.json", record)


def read_analyses(out: Path, name: str, kind: type[AnyRecord]) -> list[AnyRecord]:
    """Return all records of an analysis, sorted by file name; none where it was not run.

    Raises
    ------
    NewerSchemaError
        A file is one of a newer version of this package.
    RecordError
        A file is not such a record.
    """
    paths = sorted((out / FOLDER / name).glob("*.json"))
    return [read_json_record(path, kind, schema=SCHEMA, remedy=REMEDY) for path in paths]
