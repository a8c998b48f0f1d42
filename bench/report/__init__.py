"""Tables, figures and pages from records alone."""

from bench.report.write import render

__all__ = ["render"]
