"""What a worker is given: a cell, where its data and results lie, and the resources it may use."""

from dataclasses import dataclass, replace
from pathlib import Path

from bench.datasets import DatasetEntry
from bench.models.catalogue import ModelEntry
from bench.plan.cell import Cell, cell_name
from bench.results.record import CellName
from bench.results.store import CellFolder
from bench.settings import Training


@dataclass(frozen=True, kw_only=True)
class Job:
    """One cell to train.

    ``model`` and ``dataset`` are the registry's entries, since a worker does not know a user's own until told;
    ``seen`` identifies the record that the cell had when it was planned; ``gpu`` is the only one that the worker may
    see, as CUDA_VISIBLE_DEVICES names it; ``memory_bytes`` is what it may allocate on a CPU; ``deterministic``
    forbids algorithms whose sums come in any order; ``micro_batch_size`` overrides the recipe's after a lack of
    memory; ``ranks`` is how many processes train the cell together.
    """

    cell: Cell
    model: ModelEntry
    dataset: DatasetEntry
    data: Path
    out: Path
    device: str
    threads: int
    seen: str | None = None
    gpu: str | None = None
    memory_bytes: int | None = None
    deterministic: bool = False
    micro_batch_size: int | None = None
    ranks: int = 1

    @property
    def name(self) -> CellName:
        """The cell's name in its record."""
        return cell_name(self.cell.settings)

    @property
    def folder(self) -> CellFolder:
        """Where the cell's files go."""
        return CellFolder.of(self.out, self.name, self.cell.key)

    @property
    def training(self) -> Training:
        """The recipe, with smaller forward passes after a lack of memory."""
        training = self.cell.settings.training
        size = self.micro_batch_size or training.micro_batch_size
        return training.model_copy(update={"micro_batch_size": size})

    def smaller(self) -> "Job | None":
        """Return the job with half the windows per forward pass; None when that was tried or cannot be."""
        training = self.cell.settings.training
        n_windows = min(training.batch_size, self.cell.data.description.n_train_windows_used)
        size = min(training.micro_batch_size or n_windows, n_windows)
        if self.micro_batch_size is not None or size == 1:
            return None
        return replace(self, micro_batch_size=size // 2)

    def on_gpu(self, gpu: str | None) -> "Job":
        """Return the same job for one GPU."""
        return replace(self, gpu=gpu)
