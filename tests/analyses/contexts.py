"""What analyses are run with in tests."""

from pathlib import Path

from bench.analyses.context import Context
from bench.analyses.contract import Analysis


def context_for(analysis: Analysis, out: Path, data: Path) -> Context:
    """Return a context that says nothing; its data are all in one folder."""
    return Context(analysis, out, data, data, lambda _: None)
