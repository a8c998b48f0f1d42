"""The records of an analysis that can be shown: one that contradicts itself is left out by name, and costs no other."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.analyses import store
from bench.analyses.contract import Analysis, Shown
from bench.datasets.contract import as_one_line
from bench.errors import BenchError, RecordError

# What a report raises where a record's lists, counts and names do not fit each other, each of which is sound alone.
CONTRADICTIONS = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class AnalysisRecords:
    """The records that can be shown, what they show (None without any), and an error for each of the others."""

    records: tuple[Any, ...]
    shown: Shown | None
    damaged: tuple[BenchError, ...]


def read_shown(out: Path, analysis: Analysis) -> AnalysisRecords:
    """Read the records of an analysis and show them together, without those that cannot be shown even alone."""
    found, unreadable = store.read(out, analysis)
    failed: list[BenchError] = []
    kept: Sequence[Any] = found
    shown = _show(out, analysis, found, failed)
    if failed:
        together, failed = failed, []
        kept = [record for record in found if _show(out, analysis, [record], failed) is not None]
        shown = _show(out, analysis, kept, failed)
        # Each can be shown alone, and not beside the others: no single one is to blame.
        failed = failed or together
    return AnalysisRecords(tuple(kept) if shown else (), shown, (*unreadable, *failed))


def _show(out: Path, analysis: Analysis, records: Sequence[Any], failed: list[BenchError]) -> Shown | None:
    """Return what records show; None without any, or where the reason was added to those that ``failed``."""
    if not records:
        return None
    try:
        return analysis.report(out, records)
    except BenchError as error:
        failed.append(error)
    except CONTRADICTIONS as error:
        stems = ", ".join(record.stem for record in records)
        failed.append(contradiction(f"{analysis.folder_in(out)}: {stems}", error, store.REMEDY))
    return None


def contradiction(what: str, error: Exception, remedy: str) -> RecordError:
    """Return the error for records that are sound in every field and do not fit together."""
    reason = as_one_line(f"{type(error).__name__}: {error}")
    return RecordError(f"{what}: cannot be shown, its records contradict themselves ({reason}); {remedy}")
