"""A table as data, for renderers and tests."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

Mark = Literal["", "best", "second"]


@dataclass(frozen=True)
class Cell:
    """One entry of a table: a number in the table's unit, a text, or (neither) a dash.

    Attributes
    ----------
    mean, std
        The number and its deviation over seeds.
    mark
        Whether it is the best or the second best of the cells that it may be compared with.
    note
        Number of a footnote, from 1.
    low, high
        Ends of an interval, in the number's unit.
    text
        Shown instead of a number.
    unit
        Unit of the number, if it is not the table's.
    """

    mean: float | None = None
    std: float | None = None
    mark: Mark = ""
    note: int | None = None
    low: float | None = None
    high: float | None = None
    text: str | None = None
    unit: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether a dash stands here."""
        return self.mean is None and self.text is None


@dataclass(frozen=True)
class Row:
    """A labelled row of one block."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Block:
    """Rows that may be compared with each other, under one heading (none if it is empty)."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """Blocks under common columns.

    Attributes
    ----------
    name
        Stem of the table's files, and its label in LaTeX.
    caption
        What the numbers are: data, split, seeds, deviation, device.
    footnotes
        Sentences without the full stop; cells name them by number.
    corner
        Heading of the row labels.
    groups
        Headings over the columns, each with the number of columns it spans; empty without headings.
    widths
        Shares of the text width for the labels and for each column; given if texts have to wrap.
    unit, digits
        Unit of the numbers, and how many decimals are shown.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    caption: str
    footnotes: tuple[str, ...] = field(default=())
    corner: str = "Model"
    groups: tuple[tuple[str, int], ...] = ()
    widths: tuple[float, ...] = ()
    unit: str = "percent"
    digits: int = 2

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows of all blocks."""
        return tuple(row for block in self.blocks for row in block.rows)

    @property
    def notes(self) -> tuple[tuple[int | None, str], ...]:
        """The footnotes, each with the number by which cells name it, or None if no cell does."""
        named = {cell.note for row in self.rows for cell in row.cells}
        numbered = enumerate(self.footnotes, start=1)
        return tuple((number if number in named else None, text) for number, text in numbered)

    @property
    def column_groups(self) -> tuple[str, ...]:
        """The heading over each column; an empty text for columns without heading."""
        spread = [heading for heading, width in self.groups for _ in range(width)]
        return tuple(spread) or ("",) * len(self.columns)


class Footnotes:
    """The footnotes of a table under construction: each text has one number, however often it is used."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def number(self, text: str) -> int:
        """Return the number of a text; a new text gets the next number."""
        if text not in self._texts:
            self._texts.append(text)
        return self._texts.index(text) + 1

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts in the order of their numbers."""
        return tuple(self._texts)


def mark_best(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Mark the largest and the second largest mean of each column; equal means share a mark."""
    columns = [mark_cells(column) for column in zip(*(row.cells for row in rows), strict=True)]
    marked = zip(*columns, strict=True) if columns else [row.cells for row in rows]
    return tuple(Row(row.label, tuple(cells)) for row, cells in zip(rows, marked, strict=True))


def mark_cells(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Mark the largest and the second largest mean of cells that may be compared.

    Equal cells get no mark; a value shared by more than half is not "second".
    """
    cells = tuple(cells)
    counts = Counter(_rounded(cell.mean) for cell in cells if cell.mean is not None)
    means = sorted(counts, reverse=True)
    marks: dict[float, Mark] = {}
    if len(means) > 1:
        marks[means[0]] = "best"
        if 2 * counts[means[1]] <= counts.total():
            marks[means[1]] = "second"
    return tuple(
        cell if cell.mean is None else replace(cell, mark=marks.get(_rounded(cell.mean), ""))
        for cell in cells
    )


def _rounded(mean: float) -> float:
    """Return a mean as printed, so that marks agree with the printed numbers."""
    return round(mean, 2)
