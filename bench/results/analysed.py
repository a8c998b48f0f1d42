"""Which trained cells an analysis looked at: the part of its record that its caption is made from."""

from collections.abc import Sequence

import numpy as np

from bench.results.aggregate import DDOF, Condition
from bench.results.analysis import Part
from bench.results.comparability import void_reason
from bench.results.record import DataDescription, Record


class AnalysedCells(Part):
    """Cells of one model on one dataset that differ in the seed alone. ``changes`` is what a preset or a user set."""

    model: str
    dataset: str
    recipe: str
    changes: str
    seeds: tuple[int, ...]
    keys: tuple[str, ...]
    data: DataDescription

    @property
    def void(self) -> str:
        """Why numbers of these cells may not be set against the paper's; an empty text where they may."""
        return void_reason(data=self.data, recipe=self.recipe, changes=self.changes, seeds=self.seeds)

    @classmethod
    def of(cls, records: Sequence[Record]) -> "AnalysedCells":
        """Describe the cells of records, at least one, ordered by seed."""
        first = records[0]
        return cls(
            model=first.cell.model,
            dataset=first.cell.dataset,
            recipe=first.cell.recipe,
            changes=Condition.of(first).changes,
            seeds=tuple(record.cell.seed for record in records),
            keys=tuple(record.key for record in records),
            data=first.data,
        )


def over_seeds(values: Sequence[float | None]) -> tuple[float, float | None] | None:
    """Return mean and sample deviation (None with one value) of the values that are known; None without any."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return float(np.mean(known)), float(np.std(known, ddof=DDOF)) if len(known) > 1 else None
