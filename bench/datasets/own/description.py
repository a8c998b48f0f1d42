"""What a folder of windows is, as the user says it in its ``dataset.toml``."""

import json
import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from bench.datasets.contract import Normalisation, as_one_line, repeated_name
from bench.datasets.formats.source_files import read_regular, refused_as
from bench.errors import DataError
from bench.files import atomic_file

DESCRIPTION = "dataset.toml"
# A name for each of a hundred thousand subjects.
_MOST_BYTES = 2**24


def _printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("must be text without line breaks")
    return text


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = repeated_name(names)
    if twice is not None:
        raise ValueError(f"must differ, '{twice}' is there twice")
    return names


_Text = Annotated[str, AfterValidator(_printable)]


class GivenSplit(BaseModel):
    """The names of the subjects of each part, as the user gives them; each subject is in one part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    train: tuple[_Text, ...] = Field(min_length=1)
    validation: tuple[_Text, ...] = Field(min_length=1)
    test: tuple[_Text, ...] = Field(min_length=1)

    @property
    def part_of(self) -> dict[str, str]:
        """The part of each subject."""
        return {name: part for part, names in self.model_dump().items() for name in names}

    @model_validator(mode="after")
    def _is_disjoint(self) -> "GivenSplit":
        everyone = (*self.train, *self.validation, *self.test)
        twice = next((name for name in everyone if everyone.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"each subject must be in one part, once; '{twice}' is there twice")
        return self


class Description(BaseModel):
    """What a folder of windows is, as its ``dataset.toml`` says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = Field(default=1, description="of this file's form")
    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,39}$", description="name on the command line")
    title: _Text
    task: _Text = "classification"
    class_names: Annotated[tuple[_Text, ...], AfterValidator(_distinct)] = Field(
        min_length=2, description="in label order"
    )
    channel_names: tuple[_Text, ...] = Field(min_length=1)
    sampling_rate_hz: float = Field(gt=0, allow_inf_nan=False)
    normalisation: Normalisation = Field(default="window", description="how a model wants it scaled")
    homepage: _Text = "none"
    licence: _Text = "not stated"
    citation: _Text = "none"
    subjects: dict[str, _Text] = Field(default_factory=dict, description="number of a subject to its name")
    split: GivenSplit | None = Field(default=None, description="names of the subjects of each part")


def read_description(path: Path) -> Description:
    """Read a description.

    Raises
    ------
    DataError
        The file is missing, not TOML, or a field is missing, unknown or unusable.
    """
    try:
        with refused_as(DataError, path):
            content = read_regular(path, _MOST_BYTES)
    except DataError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise DataError(
                f"{path}: no such file; it says what the windows are, as docs/datasets.md describes"
            ) from error
        raise
    try:
        return Description.model_validate(tomllib.loads(content.decode("utf-8-sig")))
    except ValidationError as error:
        first = error.errors()[0]
        field = as_one_line(".".join(map(str, first["loc"])))
        raise DataError(f"{path}: {field}: {first['msg']}; found {str(first['input'])[:60]!r}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not readable as TOML ({as_one_line(str(error))})") from error


def write_description(folder: Path, description: Description) -> None:
    """Write a description into a folder; printable JSON values are TOML values."""
    lines = []
    for key, value in description.model_dump(exclude={"subjects", "split"}).items():
        lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    lines += ["", "[subjects]"]
    lines += [
        f"{number} = {json.dumps(name, ensure_ascii=False)}" for number, name in description.subjects.items()
    ]
    if description.split is not None:
        lines += ["", "[split]"]
        lines += [
            f"{part} = {json.dumps(names, ensure_ascii=False)}"
            for part, names in description.split.model_dump().items()
        ]
    with atomic_file(folder / DESCRIPTION) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
