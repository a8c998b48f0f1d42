"""How much the normalisation of windows decides."""

from collections.abc import Sequence

from bench.report.section import Section
from bench.report.tables.by_normalisation import normalisation_tables
from bench.studies.aggregate import Comparison


def normalisation_section(comparisons: Sequence[Comparison]) -> Section:
    """Return the section; without an intro where every dataset was run under one normalisation."""
    tables = tuple(normalisation_tables(comparisons))
    intro = "The same models and settings under other scalings of the windows." if tables else ""
    return Section("normalisation", "Normalisation", intro, tables)
