"""What a worker is given: a cell, where its data and results lie, and the resources it may use."""

from dataclasses import dataclass, replace
from pathlib import Path

from bench.datasets import DatasetEntry
from bench.models.catalogue import ModelEntry
from bench.plan.cell import Cell
from bench.results.record import CellName
from bench.results.store import CellFolder


@dataclass(frozen=True, kw_only=True)
class Job:
    """One cell to train.

    ``model`` and ``dataset`` are the registry's entries, since a worker does not know a user's own until told;
    ``micro_batch_size`` overrides the recipe's after a lack of memory.
    """

    cell: Cell
    model: ModelEntry
    dataset: DatasetEntry
    data: Path
    out: Path
    device: str
    threads: int
    micro_batch_size: int | None = None

    @property
    def name(self) -> CellName:
        """The cell's name in its record."""
        settings = self.cell.settings
        return CellName(
            model=settings.model, dataset=settings.dataset, seed=settings.seed, recipe=settings.recipe
        )

    @property
    def folder(self) -> CellFolder:
        """Where the cell's files go."""
        return CellFolder.of(self.out, self.name, self.cell.key)

    def with_micro_batch(self, size: int) -> "Job":
        """Return the same job with smaller forward passes."""
        return replace(self, micro_batch_size=size)
