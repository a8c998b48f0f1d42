"""A part of a report: its text, its tables and its figures."""

from collections.abc import Iterable
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
        Introductory text or, if the part is empty, what would fill it.
    tables, figures
        Its content, in order.
    data_tables
        Tables too long for paper and page: written as CSV and JSON only.
    summary
        What the top of the page says of the part; empty for most parts.
    brief
        For a terminal: the scores, and the headline of who wins where.
    """

    name: str
    title: str
    intro: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    data_tables: tuple[Table, ...] = ()
    summary: str = ""
    brief: tuple[Table, Table] | None = None


def in_brief(sections: Iterable[Section]) -> tuple[Table, ...]:
    """Return what a terminal shows: all scores, then all headlines, the most important one last."""
    pairs = [section.brief for section in sections if section.brief is not None][::-1]
    return (*(scores for scores, _ in pairs), *(headline for _, headline in pairs))


def present(*items: Table | Figure | None) -> tuple[tuple[Table, ...], tuple[Figure, ...]]:
    """Return the tables and figures that are not None."""
    tables = tuple(item for item in items if isinstance(item, Table))
    figures = tuple(item for item in items if isinstance(item, Figure))
    return tables, figures
