"""Which trained cells an analysis looked at: the part of its record that its caption is made from."""

from collections.abc import Sequence

from pydantic import Field

from bench.results.field_types import Line, Name, Seed
from bench.results.frozen_model import FrozenModel
from bench.results.record import DataDescription, Record, Sha256
from bench.studies.aggregate import Condition
from bench.studies.comparability import void_reason


class AnalysedCells(FrozenModel):
    """Cells of one model on one dataset that differ in the seed alone. ``changes`` is what a preset or a user set."""

    model: Name
    dataset: Name
    recipe: Name
    changes: Line
    seeds: tuple[Seed, ...] = Field(min_length=1)
    keys: tuple[Sha256, ...] = Field(min_length=1)
    data: DataDescription

    @property
    def void(self) -> str:
        """Why numbers of these cells may not be compared with the paper's; empty where they may."""
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


def stem_of(cells: AnalysedCells) -> str:
    """Return the name of the file for a record of these cells: dataset and model."""
    return f"{cells.dataset}-{cells.model}"
