"""Runs one analysis: writes its records as they are finished, and returns their tables and figures."""

from collections.abc import Callable
from pathlib import Path

from bench.analyses.context import Context
from bench.analyses.contract import Analysis, Options, Say, Shown
from bench.analyses.store import read
from bench.results.store import require_writable


def analyse(
    analysis: Analysis,
    options: Options,
    *,
    out: Path,
    data: Path | None,
    default_data: Path,
    say: Say,
    written: Callable[[Path], object] = lambda _: None,
) -> None:
    """Run an analysis on a results folder; see `Context` for the arguments.

    Raises
    ------
    RecordError
        The results folder cannot be written to, or a trained cell that is needed is not there.
    BenchError
        The analysis refuses its options or data.
    """
    require_writable(out)
    analysis.run(Context(analysis, out, data, default_data, say, written), options)


def shown(analysis: Analysis, out: Path, say: Say) -> Shown:
    """Return the tables and figures of all records of an analysis; damaged records are reported and left out."""
    records, damaged = read(out, analysis)
    for error in damaged:
        say(f"left out: {error}")
    return analysis.report(out, records) if records else Shown()
