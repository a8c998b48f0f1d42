"""A part of a report: its words, its tables and its figures."""

from dataclasses import dataclass

from bench.render.figure import Figure
from bench.render.table import Table


@dataclass(frozen=True)
class Section:
    """One part of the report.

    Attributes
    ----------
    name, title
        Anchor on the page, and heading.
    intro
        What the part says or, where it is empty, what would fill it.
    tables, figures
        Its content, in order.
    data_tables
        Tables too long for paper and page: written as CSV and JSON only.
    """

    name: str
    title: str
    intro: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    data_tables: tuple[Table, ...] = ()


def present(*items: Table | Figure | None) -> tuple[tuple[Table, ...], tuple[Figure, ...]]:
    """Return the tables and the figures among items, those that are None left out."""
    tables = tuple(item for item in items if isinstance(item, Table))
    figures = tuple(item for item in items if isinstance(item, Figure))
    return tables, figures
