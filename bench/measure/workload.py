"""Workloads: one model of one size on random windows, in inference or in training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bench.models import registry
from bench.models.catalogue import ModelEntry
from bench.settings import Training

if TYPE_CHECKING:
    from torch import nn

Mode = Literal["inference", "training"]
WEIGHTS_SEED = 41


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One model of one size on one device.

    ``entry`` says where its code is, also to a process that does not know a user's own models. ``training`` is the
    recipe whose optimiser step is measured. ``memory_limit_bytes`` bounds what a process on a CPU may allocate; a GPU
    has its own bound. ``keeps_memory`` tells a process on a CPU to keep what it frees: steadier times, more memory.
    """

    entry: ModelEntry
    hyperparameters: Mapping[str, Any]
    n_channels: int
    n_times: int
    n_classes: int
    training: Training
    device: str
    threads: int
    memory_limit_bytes: int | None = None
    keeps_memory: bool = False

    @property
    def model(self) -> str:
        """The model's name."""
        return self.entry.name

    def import_model(self) -> None:
        """Import the model's code, so that building it takes no more time than that."""
        registry.register(self.entry)
        registry.module_of(self.entry)

    def build(self) -> "nn.Module":
        """Build the model on the CPU, with initial weights."""
        from bench import models

        return models.build(self.model, self.n_channels, self.n_times, self.n_classes, **self.hyperparameters)

    def load(self) -> "nn.Module":
        """Build the model on its device; the weights are the same every time."""
        import torch

        torch.manual_seed(WEIGHTS_SEED)
        return self.build().to(self.device)


@dataclass(frozen=True)
class Workload:
    """A mode, inference or training, and a number of windows at once."""

    mode: Mode
    batch: int

    def __str__(self) -> str:
        """Return the workload as progress and messages name it."""
        return f"{self.mode} at batch {self.batch}"


def prepare(model: "nn.Module", subject: Subject, workload: Workload) -> Callable[[], None]:
    """Return what one run does: a forward pass, or a whole step of training, on the same random windows."""
    import torch

    generator = torch.Generator().manual_seed(WEIGHTS_SEED)
    shape = (workload.batch, subject.n_times, subject.n_channels)
    windows = torch.randn(shape, generator=generator).to(subject.device)
    if workload.mode == "inference":
        return _inference(model, windows)
    labels = torch.randint(subject.n_classes, (workload.batch,), generator=generator).to(subject.device)
    return _training(model, windows, labels, subject.training)


def _inference(model: "nn.Module", windows: Any) -> Callable[[], None]:
    import torch

    model.eval()

    def run() -> None:
        with torch.inference_mode():
            model(windows)

    return run


def _training(model: "nn.Module", windows: Any, labels: Any, training: Training) -> Callable[[], None]:
    import torch
    import torch.nn.functional as F

    from bench.train.optimiser import make_optimiser

    model.train()
    optimiser = make_optimiser(model, training)

    def run() -> None:
        optimiser.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(windows), labels, label_smoothing=training.label_smoothing)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), training.clip_norm)
        optimiser.step()

    return run
