"""One cell trained by several processes together (torchrun), as the published protocol trains on several GPUs.

Every process loads the whole data and takes its share of each batch. The effective batch is the recipe's: gradients
are weighted by the size of a share, batch statistics are those of the whole batch, and every window is evaluated
once. The result is one process's up to rounding for models whose output for a window depends on no other window but
through batch normalisation; `differs_because` says which others there are. Untested on a GPU.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from bench.errors import UsageError
from bench.models import registry as models
from bench.results.record import Record
from bench.run.cell import run_cell
from bench.run.claim import claim, sweep
from bench.run.job import Job
from bench.run.shared_norm import share_batch_norms
from bench.settings import Training
from bench.train.fit import Fit
from bench.train.part import Part
from bench.train.seeding import derived_seed, seed_default_generators

DRAWS = "it draws random numbers, and each process its own"
WHOLE_BATCH = "it averages over the windows of a batch"
DIFFERENT = {
    "autoformer": WHOLE_BATCH,
    "informer": DRAWS,
    "medformer": DRAWS,
    "medformer-latest": DRAWS,
    "reformer": DRAWS,
}


def differs_because(model: str) -> str | None:
    """Return why a model trained by several processes is not the one that a single process trains, or None."""
    if models.entry(model).path is not None:
        return "nothing is known of it"
    return DIFFERENT.get(model)


class DistributedFit(Fit):
    """A `Fit` whose batches are shared out among the processes of the default group.

    Dropout draws differently in each process.
    """

    def __init__(
        self, model: nn.Module, train: Part, validation: Part, training: Training, seed: int
    ) -> None:
        if training.micro_batch_size is not None:
            raise UsageError(
                f"micro_batch_size={training.micro_batch_size}: a cell of several processes needs none; "
                "start more processes instead"
            )
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.norms = share_batch_norms(model)
        share_evaluation(model)
        super().__init__(model, train, validation, training, seed)
        self.together = DistributedDataParallel(model, broadcast_buffers=False, find_unused_parameters=True)
        seed_default_generators(derived_seed(seed, f"rank {self.rank}"))

    def _accumulate(self, windows: Tensor, labels: Tensor) -> float:
        """Add up the gradients of all processes' shares of a batch, and return the whole batch's mean loss."""
        own = share_of(len(labels))
        weight = (own.stop - own.start) / len(labels)
        copies = 1
        if len(labels) < self.ranks:
            # Too few to share out: everyone computes all of them.
            own, weight, copies = slice(None), 1 / self.ranks, self.ranks
        for norm in self.norms:
            norm.copies = copies
        with self._sharing(weight * self.ranks):
            loss = super()._accumulate(windows[own], labels[own])
        total = torch.tensor(loss * weight, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return total.item()

    @contextmanager
    def _sharing(self, scale: float) -> Iterator[None]:
        """Let the forward pass go through the group, whose gradients are averaged; ``scale`` weighs this process's."""
        alone = self.model
        self.model: Any = lambda windows: _ScaledGradient.apply(self.together(windows), scale)
        try:
            yield
        finally:
            self.model = alone


def share_of(n: int) -> slice:
    """Return this process's share of ``n`` windows: contiguous, as even as can be."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    return slice(rank * n // ranks, (rank + 1) * n // ranks)


class _ScaledGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, scale: float) -> Tensor:
        ctx.scale = scale
        return logits.view_as(logits)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0] * ctx.scale, None


def share_evaluation(model: nn.Module) -> None:
    """Have a model in evaluation compute this process's share of a batch and gather the logits of all."""
    whole = 0

    def take(module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        nonlocal whole
        if module.training:
            return inputs
        (windows,) = inputs
        whole, own = len(windows), share_of(len(windows))
        # A process without a share computes one window for nothing, to know the shape of logits.
        return (windows[own] if own.stop > own.start else windows[:1],)

    def gather(module: nn.Module, _inputs: tuple[Tensor, ...], logits: Tensor) -> Tensor:
        return logits if module.training else gathered(logits, whole)

    model.register_forward_pre_hook(take)
    model.register_forward_hook(gather)


def gathered(own: Tensor, n: int) -> Tensor:
    """Return the rows of all processes' shares of ``n`` rows, in order."""
    ranks = dist.get_world_size()
    sizes = [(rank + 1) * n // ranks - rank * n // ranks for rank in range(ranks)]
    size = sizes[dist.get_rank()]
    padded = own.new_zeros(max(sizes), *own.shape[1:])
    padded[:size] = own[:size]
    everyone = [torch.empty_like(padded) for _ in sizes]
    dist.all_gather(everyone, padded)
    return torch.cat([rows[:size] for rows, size in zip(everyone, sizes, strict=True)])


def run_together(job: Job, on_epoch: Callable[..., None]) -> Record | None:
    """Train a cell with all processes that torchrun started; the first writes and returns its record.

    All go on from the first one's checkpoint, which they read before it can write another. What goes wrong is raised
    and no record of it written: the cell stays to do.
    """
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if job.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.set_num_threads(job.threads)
    dist.init_process_group("nccl" if job.device == "cuda" else "gloo")
    job = replace(job, ranks=ranks)
    try:
        if rank == 0:
            with claim(job.folder):
                sweep(job.folder)
                dist.barrier()
                dist.barrier()
                return run_cell(job, on_epoch, DistributedFit)
        with tempfile.TemporaryDirectory() as folder:
            elsewhere = replace(job, out=Path(folder))
            dist.barrier()
            if job.folder.checkpoint.exists():
                elsewhere.folder.path.mkdir(parents=True)
                shutil.copyfile(job.folder.checkpoint, elsewhere.folder.checkpoint)
            dist.barrier()
            run_cell(elsewhere, lambda _: None, DistributedFit)
        return None
    finally:
        dist.destroy_process_group()
