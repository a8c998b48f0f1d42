"""The subjects of each part of a split, kept beside the records so that others can recompute keys and check the parts.

A key holds the three lists of subjects, a record only their counts. One file in ``splits/`` serves all cells with that
split.
"""

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import Field

from bench.files import atomic_file
from bench.results.field_types import Line, Name
from bench.results.frozen_model import FrozenModel
from bench.results.json_record import read_json_record

FOLDER = "splits"
SCHEMA = 1
_REMEDY = "remove the file; the next 'bench run' of these cells writes it again"


class SplitFile(FrozenModel):
    """A split of a dataset: the names of the subjects of each part, sorted."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    dataset: Name
    train: tuple[Line, ...]
    validation: tuple[Line, ...]
    test: tuple[Line, ...]

    @property
    def shared_subjects(self) -> tuple[str, ...]:
        """The subjects that are in more than one part; none in a split by subject."""
        parts = [set(self.train), set(self.validation), set(self.test)]
        every = set().union(*parts)
        return tuple(sorted(name for name in every if sum(name in part for part in parts) > 1))


def write_split(out: Path, split: SplitFile) -> Path:
    """Write a split below a results folder, named by its content; one that is there, and whole, is left as it is."""
    text = split.model_dump_json(by_alias=True, indent=0) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = out / FOLDER / f"{split.dataset}-{digest[:12]}.json"
    if not path.is_file() or path.read_bytes() != text.encode():
        with atomic_file(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return path


def read_splits(out: Path, dataset: str) -> list[SplitFile]:
    """Return the splits of a dataset that a results folder holds.

    Raises
    ------
    RecordError
        A file is damaged.
    """
    paths = sorted((out / FOLDER).glob(f"{dataset}-*.json"))
    splits = [read_json_record(path, SplitFile, schema=SCHEMA, remedy=_REMEDY) for path in paths]
    return [split for split in splits if split.dataset == dataset]
