"""Tables, figures and pages from records alone."""

from bench.report.asked import asked_tables
from bench.report.write import render

__all__ = ["asked_tables", "render"]
