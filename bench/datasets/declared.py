"""The small file beside data that says what they are, where counting windows cannot tell.

``DATA.json`` in a dataset's folder: ``{"kind": "converted", "remark": "rebuilt from half windows of a public copy"}``.

* ``kind``: ``converted`` (the dataset's own signals, through other hands or another format than the publisher's) or
  ``excerpt``.
* ``remark``: one line on where the files come from.
* ``share``: the fraction of the published windows that are there, only for a dataset whose published number is not
  known here; otherwise it is counted.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bench.datasets.contract import as_one_line
from bench.datasets.formats.source_files import is_there, read_regular, refused_as
from bench.errors import DataError

DECLARATION_NAME = "DATA.json"
_MOST_BYTES = 2**16


class Declaration(BaseModel):
    """What a folder says of its data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["converted", "excerpt"]
    remark: str = Field(default="", max_length=300, pattern=r"^[^\n\r]*$")
    share: float | None = Field(default=None, gt=0, le=1)


def read_declaration(folder: Path) -> Declaration | None:
    """Return what a dataset's folder says of its data, None where it says nothing.

    Raises
    ------
    DataError
        The file is there but cannot be used.
    """
    path = folder / DECLARATION_NAME
    if not is_there(path):
        return None
    with refused_as(DataError, path):
        text = read_regular(path, _MOST_BYTES)
    try:
        return Declaration.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{path}: {f'{where}: ' if where else ''}{as_one_line(first['msg'])}; expected "
            '{"kind": "converted", "remark": "one line on where the files come from"}'
        ) from error
