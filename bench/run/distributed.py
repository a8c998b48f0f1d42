"""One cell trained by several processes together (torchrun), as the published protocol trains on several GPUs.

Every process loads the whole data and takes its share of each batch. The effective batch is the recipe's: gradients
are weighted by the size of a share, batch statistics are those of the whole batch, and every window is evaluated
once. The result equals a single process's up to rounding if a model's output for a window depends on no other but
through batch normalisation; `differs_because` says which others there are. Untested on a GPU.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from filelock import Timeout
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from bench.errors import UsageError
from bench.measure.exclusive import training
from bench.models import registry as models
from bench.results.record import Record
from bench.results.store import find_record, quarantine_damaged
from bench.run.cell_lock import locked, sweep
from bench.run.cells.train_cell import run_cell
from bench.run.computing import forbid_any_order, set_threads
from bench.run.job import Job
from bench.run.news import OnPosition
from bench.run.shared_norm import share_batch_norms
from bench.settings import Training
from bench.train.fit import Fit
from bench.train.part import Part
from bench.train.seeding import derived_seed, seed_default_generators

# Models by what makes a window's output depend on others of the batch.
DIFFERENT = {
    "draws": "it draws random numbers, and each process its own",
    "statistics": "it averages over the windows of a batch",
}
# The parts of a training's state that each process has of its own.
GENERATORS = ("default_generator", "cuda_generator")


def differs_because(model: str) -> str | None:
    """Return why a model trained by several processes differs from that of a single process, or None."""
    entry = models.entry(model)
    if entry.is_own:
        return "nothing is known of it"
    return None if entry.couples_windows is None else DIFFERENT[entry.couples_windows]


class DistributedFit(Fit):
    """A `Fit` whose batches are shared out among the processes of the default group, micro-batch by micro-batch.

    Dropout draws differently in each process.
    """

    def __init__(
        self, model: nn.Module, train: Part, validation: Part, training: Training, seed: int
    ) -> None:
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.norms = share_batch_norms(model)
        share_evaluation(model)
        super().__init__(model, train, validation, training, seed)
        self.together = DistributedDataParallel(model, broadcast_buffers=False, find_unused_parameters=True)
        seed_default_generators(derived_seed(seed, f"rank {self.rank}"))

    def _accumulate(self, windows: Tensor, labels: Tensor) -> list[Tensor]:
        """Add up the gradients of all processes' shares of a batch, and return the whole batch's mean loss."""
        size = self.training.micro_batch_size or len(labels)
        pairs = zip(windows.split(size), labels.split(size), strict=True)
        parts = [
            self._accumulate_shares(micro_batch, truth, len(truth) / len(labels))
            for micro_batch, truth in pairs
        ]
        whole = torch.stack(parts).sum()
        dist.all_reduce(whole)
        return [whole]

    def _accumulate_shares(self, windows: Tensor, labels: Tensor, weight: float) -> Tensor:
        """Add up the gradients of one micro-batch, ``weight`` of its batch; return this process's part of the loss."""
        own, copies = share_of(len(labels)), 1
        share = (own.stop - own.start) / len(labels)
        if len(labels) < self.ranks:
            # Too few windows to share out: every process computes all of them.
            own, share, copies = slice(None), 1 / self.ranks, self.ranks
        weight *= share
        for norm in self.norms:
            norm.copies = copies
        with self._sharing(weight * self.ranks):
            return weight * torch.stack(super()._accumulate(windows[own], labels[own])).double().sum()

    @contextmanager
    def _sharing(self, scale: float) -> Iterator[None]:
        """Let the forward pass go through the group, whose gradients are averaged; ``scale`` weighs this process's."""
        alone = self.model
        self.model: Any = lambda windows: _ScaledGradient.apply(self.together(windows), scale)
        try:
            yield
        finally:
            self.model = alone

    def state_dict(self) -> dict[str, Any]:
        """Return the state of a `Fit`, and every process's generators; all processes must call it together."""
        state = super().state_dict()
        everyone: list[Any] = [None] * self.ranks
        dist.all_gather_object(everyone, {name: state[name] for name in GENERATORS})
        return state | {"generators": everyone}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state taken by the same number of processes; each continues with its own generators."""
        super().load_state_dict(state | state["generators"][self.rank])


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
        # A process without a share computes one window just for the shape of logits.
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


def run_together(job: Job, on_position: OnPosition) -> Record | None:
    """Train a cell with all processes that torchrun started; the first writes and returns its record.

    All continue from the first process's checkpoint, which they read before it can write another. Errors are raised
    without a record, so that the cell remains to be done.

    Raises
    ------
    UsageError
        Another run trains the cell; raised in every process.
    """
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if job.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    set_threads(job.threads)
    if job.deterministic:
        forbid_any_order(job.device)
    dist.init_process_group("nccl" if job.device == "cuda" else "gloo")
    try:
        with training(job.device):
            return (
                _first(replace(job, ranks=ranks), on_position)
                if rank == 0
                else _other(replace(job, ranks=ranks))
            )
    finally:
        dist.destroy_process_group()


def _first(job: Job, on_position: OnPosition) -> Record | None:
    with ExitStack() as held:
        try:
            held.enter_context(locked(job.folder))
        except Timeout:
            _agree(f"{job.folder.path}: another run trains this cell; wait for its end")
        sweep(job.folder)
        done = find_record(job.out, job.name, job.cell.key)
        if done is not None and done.is_done:
            _agree(f"{job.folder.path}: another run has finished this cell meanwhile")
        quarantine_damaged(job.out, job.name, job.cell.key)
        _agree(None)
        dist.barrier()
        return run_cell(job, on_position, DistributedFit)[0]


def _other(job: Job) -> None:
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = replace(job, out=Path(folder))
        _agree(None)
        if job.folder.checkpoint.exists():
            elsewhere.folder.path.mkdir(parents=True)
            shutil.copyfile(job.folder.checkpoint, elsewhere.folder.checkpoint)
        dist.barrier()
        run_cell(elsewhere, lambda _: None, DistributedFit)


def _agree(refusal: str | None) -> None:
    """Raise the first process's refusal in all processes, so that none waits for the others."""
    message = [refusal]
    dist.broadcast_object_list(message)
    if message[0] is not None:
        raise UsageError(message[0])
