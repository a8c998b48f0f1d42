"""Tables, figures and pages from records alone."""

from bench.reports.render import render

__all__ = ["render"]
