"""What a name, a line, a count and a share in a record may be: records are data from strangers."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from bench.files import NAME_RULE, is_plain_name

# Control characters, line ends of Unicode, and signs that turn the direction of writing.
_HIDDEN = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]")
# Sums of ranks and of precisions come out a few units in the last place above one.
_ROUNDING = 1e-9


def _plain_name(text: str) -> str:
    if not is_plain_name(text):
        raise ValueError(f"{text[:60]!r} is no name: use {NAME_RULE}")
    return text


def _one_line(text: str) -> str:
    if _HIDDEN.search(text):
        raise ValueError(f"{text[:60]!r} has control characters; use a single line of plain text")
    return text


def require_share(value: float | None) -> float | None:
    """Return a fraction of one, or None.

    Raises
    ------
    ValueError
        It is below zero, above one, or no number.
    """
    if value is not None and not 0 <= value <= 1 + _ROUNDING:
        raise ValueError(f"{value} is no share from 0 to 1")
    return value


Name = Annotated[str, AfterValidator(_plain_name)]
"""Part of a path, such as a model, a dataset or a recipe."""
Line = Annotated[str, Field(max_length=2000), AfterValidator(_one_line)]
"""A text on one line, without signs that do something."""
Count = Annotated[int, Field(ge=0, lt=2**53)]
Size = Annotated[int, Field(ge=1, lt=2**53)]
Seed = Annotated[int, Field(ge=0, lt=2**64)]
Loss = Annotated[float, Field(ge=0)]
Share = Annotated[float, AfterValidator(require_share)]
"""A fraction of one."""
