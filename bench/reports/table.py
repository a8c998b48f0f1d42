"""A table as data: what every renderer draws from and every test compares."""

from dataclasses import dataclass, field
from typing import Literal

Mark = Literal["", "best", "second"]


@dataclass(frozen=True)
class Cell:
    """One entry: a mean with its deviation, both in percent, or a dash; ``note`` is the number of a footnote."""

    mean: float | None = None
    std: float | None = None
    mark: Mark = ""
    note: int | None = None


@dataclass(frozen=True)
class Row:
    """A labelled row of one block."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Block:
    """Rows that may be compared with each other, under one heading."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """Blocks under common columns. ``name`` is its file's; ``caption`` says data, seeds, device and deviation."""

    name: str
    title: str
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    caption: str
    footnotes: tuple[str, ...] = field(default=())


def mark_best(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Mark the largest and the second largest mean of each column; equal means share a mark."""
    marked = [list(row.cells) for row in rows]
    for column in range(len(marked[0]) if marked else 0):
        means = sorted(
            {_rounded(row[column].mean) for row in marked if row[column].mean is not None}, reverse=True
        )
        for row in marked:
            cell = row[column]
            if cell.mean is not None and _rounded(cell.mean) in means[:2]:
                mark: Mark = "best" if _rounded(cell.mean) == means[0] else "second"
                row[column] = Cell(cell.mean, cell.std, mark, cell.note)
    return tuple(Row(row.label, tuple(cells)) for row, cells in zip(rows, marked, strict=True))


def _rounded(mean: float | None) -> float:
    """Return a mean as printed, so that marks follow what the reader sees."""
    return round(mean or 0.0, 2)
