"""What a prepared dataset says of itself: one JSON file beside the windows."""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.datasets.contract import Provenance, as_one_line
from bench.datasets.formats.source_files import read_regular
from bench.errors import DataError

SCHEMA = 2
# A line for each of a million subjects.
_MOST_BYTES = 2**28


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SubjectSummary(_Frozen):
    """A subject by the source's name, the class of all its windows (None: several), windows in label order."""

    name: str
    label: int | None
    windows_per_class: tuple[int, ...]

    @property
    def n_windows(self) -> int:
        """Number of windows of the subject."""
        return sum(self.windows_per_class)


class Skipped(_Frozen):
    """A damaged record and what is wrong with it."""

    record: str
    reason: str


class Excluded(_Frozen):
    """How many the protocol leaves out for one reason, and the first of them."""

    reason: str
    count: int
    examples: tuple[str, ...] = Field(max_length=20)


class Manifest(_Frozen):
    """Content of a prepared dataset; ``files`` maps the name of each array to its size in bytes.

    ``n_listed`` counts all records, ``n_records`` those that gave windows; ``fingerprint`` is that of the windows
    as cut; ``source_folder`` is where the files lay; ``remarks`` are what readers mended or could not check.
    """

    schema_number: Literal[2] = SCHEMA
    dataset: str
    reader_revision: int
    source_folder: str
    source_stamp: str
    fingerprint: str
    n_windows: int
    n_times: int
    n_channels: int
    n_listed: int
    n_records: int
    class_names: tuple[str, ...]
    windows_per_class: tuple[int, ...]
    subjects: tuple[SubjectSummary, ...]
    skipped: tuple[Skipped, ...]
    remarks: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...]
    provenance: Provenance
    libraries: dict[str, str]
    files: dict[str, int]


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises
    ------
    DataError
        The file cannot be read or is not a manifest.
    """
    try:
        return Manifest.model_validate_json(read_regular(path, _MOST_BYTES))
    except (OSError, ValidationError) as error:
        first = as_one_line(str(error).partition("\n")[0])
        raise DataError(
            f"{path}: not a readable manifest ({first}); delete the folder {path.parent} and prepare again"
        ) from error


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write a manifest into a folder that nobody else sees yet, flushed to the disk."""
    with path.open("w", encoding="utf-8") as file:
        file.write(manifest.model_dump_json(indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
