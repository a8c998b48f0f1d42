"""Choosing a model's configuration by validation macro F1, from the records of trainings that tried them.

Those trainings lie in a results folder of their own inside the other: they have no test scores and stand in no table.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.results.record import Record
from bench.results.store import CONTROLS, TUNING
from bench.settings.candidates import Candidate
from bench.settings.resolve import CellSettings
from bench.settings.schema import Tuned


def results_root(out: Path, settings: CellSettings) -> Path:
    """Return the folder that a cell's record goes to: the results folder, or one inside it for what is no result."""
    if settings.candidate is not None:
        return out / TUNING
    return out if settings.control is None else out / CONTROLS


def best(records: Sequence[Record]) -> Tuned:
    """Return the choice among the finished trainings of a model's configurations, given in their order.

    Of equal scores the earlier wins. A training without scores (diverged, out of memory) is never chosen; if all are
    such, the choice has no score.
    """
    scores = {
        number: record.validation.f1
        for number, record in enumerate(records, start=1)
        if record.validation is not None
    }
    failed = len(records) - len(scores)
    if not scores:
        return Tuned(chosen=1, tried=len(records), failed=failed)
    chosen = max(scores, key=lambda number: (scores[number], -number))
    return Tuned(chosen=chosen, tried=len(records), failed=failed, val_f1=scores[chosen])


def chosen(candidate: Candidate, tuned: Tuned) -> Candidate:
    """Return a configuration with the reason of its choice as the origin of its values."""
    if tuned.val_f1 is None:
        return replace(candidate, origin=f"the published configuration, with no choice among {tuned.tried}")
    reason = f"chosen by validation macro F1 ({100 * tuned.val_f1:.2f} %)"
    return replace(candidate, origin=f"configuration {tuned.chosen} of {tuned.tried} tried, {reason}")
