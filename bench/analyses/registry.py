"""The analyses by name: the package's own, and those of installed packages.

An installed package offers an `Analysis` under the entry point group ``medmamba_bench.analyses``.
"""

import pkgutil
from functools import cache
from importlib.metadata import entry_points

from bench.analyses.contract import Analysis
from bench.errors import UsageError, unknown_name

GROUP = "medmamba_bench.analyses"

_ANALYSES = (
    "efficiency",
    "centralization",
    "channel_mixing",
    "embedding",
    "subject_probe",
    "theory",
    "missing_sensors",
    "scales",
    "scaling",
)
"""Packages beside this file, in the order of a report; each has ``record.ANALYSIS``."""


@cache
def analyses() -> dict[str, Analysis]:
    """Return all analyses by name, in the order of a report.

    Raises
    ------
    UsageError
        An installed package offers an object that is no `Analysis`, or a name that is taken.
    """
    known: dict[str, Analysis] = {}
    for package in _ANALYSES:
        analysis: Analysis = pkgutil.resolve_name(f"bench.analyses.{package}.record:ANALYSIS")
        known[analysis.name] = analysis
    for point in entry_points(group=GROUP):
        offered = point.load()
        if not isinstance(offered, Analysis):
            raise UsageError(f"entry point {point.value}: expected an Analysis, got {type(offered).__name__}")
        if offered.name in known:
            raise UsageError(
                f"entry point {point.value}: an analysis {offered.name!r} is there already; rename it"
            )
        known[offered.name] = offered
    return known


def find(name: str) -> Analysis:
    """Return one analysis.

    Raises
    ------
    UsageError
        There is no analysis of this name; the message offers the nearest.
    """
    if name not in analyses():
        raise unknown_name("analysis", name, tuple(analyses()))
    return analyses()[name]
