"""The task of a worker: a cell, the folders of data and results, and the resources it may use."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench import datasets
from bench.datasets import DatasetEntry
from bench.estimators.keep_fitted import Writer
from bench.models import registry as models
from bench.models.catalogue import ModelEntry
from bench.plan.cell import Cell, cell_name
from bench.plan.grid import PlannedCell
from bench.plan.tuning import results_root
from bench.results.record import CellName, Record
from bench.results.store import CellFolder
from bench.run.resources import Resources
from bench.settings import Training


@dataclass(frozen=True, kw_only=True)
class Job:
    """One cell to train.

    ``model`` and ``dataset`` are the registry's entries, since a worker's registry lacks a user's own;
    ``seen`` identifies the record that the cell had when it was planned; ``gpu`` is the only GPU that the worker may
    see, as CUDA_VISIBLE_DEVICES names it; ``memory_bytes`` is what it may allocate on a CPU; ``deterministic``
    forbids algorithms whose sums come in any order; ``micro_batch_size`` overrides the recipe's after a lack of
    memory; ``ranks`` is how many processes train the cell together; ``keep_fitted`` is what writes a fitted estimator.
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
    keep_fitted: Writer | None = None

    @property
    def name(self) -> CellName:
        """The cell's name in its record."""
        return cell_name(self.cell.settings)

    @property
    def folder(self) -> CellFolder:
        """The folder for the cell's files."""
        return CellFolder.of(self.out, self.name, self.cell.key)

    @property
    def training(self) -> Training:
        """The recipe of a network, with smaller forward passes after a lack of memory."""
        training = self.cell.settings.protocol
        size = self.micro_batch_size or training.micro_batch_size
        return training.model_copy(update={"micro_batch_size": size})

    def smaller(self) -> "Job | None":
        """Return the job with half the windows per forward pass; None if that was tried already or is impossible."""
        if self.cell.settings.is_estimator:
            return None
        training = self.cell.settings.protocol
        n_windows = min(training.batch_size, self.cell.data.description.n_train_windows_used)
        size = min(training.micro_batch_size or n_windows, n_windows)
        if self.micro_batch_size is not None or size == 1:
            return None
        return replace(self, micro_batch_size=size // 2)

    def on_gpu(self, gpu: str | None) -> "Job":
        """Return the same job for one GPU."""
        return replace(self, gpu=gpu)

    def introduce(self) -> None:
        """Register the cell's model and dataset, which may be a user's own, in this process; restrict it to its GPU."""
        if self.gpu is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = self.gpu
        models.register(self.model)
        datasets.register(self.dataset)


def make_jobs(
    cells: Sequence[PlannedCell], data: Path, out: Path, resources: Resources, device: str
) -> list[Job]:
    """Return the jobs of the cells whose data is prepared; ``device`` is ``cpu`` or ``cuda``."""
    return [
        Job(
            cell=planned.cell,
            model=models.entry(planned.settings.model),
            dataset=datasets.entry(planned.settings.dataset),
            # Absolute, since a worker may have another current folder.
            data=data.resolve(),
            out=results_root(out.resolve(), planned.settings),
            device=device,
            threads=resources.threads,
            seen=identity(planned.record),
            memory_bytes=resources.memory_bytes,
            deterministic=resources.deterministic,
            keep_fitted=resources.keep_fitted,
        )
        for planned in cells
        if planned.cell is not None
    ]


def identity(record: Record | None) -> str | None:
    """Return an identifier that distinguishes a record from later records of the same cell."""
    return None if record is None else f"{record.timing.started} {record.timing.total_s!r}"
