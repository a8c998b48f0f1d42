"""Training one model: epochs of optimiser steps, the best validation macro F1 kept.

No disk, no names, no printing: `Fit` runs one epoch at a time, and its whole state can be saved and restored
between epochs, so that an interrupted training continues with the same numbers.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from bench.datasets.contract import require_disjoint
from bench.models.layers.copying import copied_to
from bench.results.record import Epoch
from bench.settings import Training
from bench.train.evaluate import predict
from bench.train.optimiser import learning_rate_factor, make_optimiser
from bench.train.part import Part
from bench.train.scores import DivergedError, macro_f1, mean_loss
from bench.train.seeding import seed_draws, torch_generator

OnStep = Callable[[float], None]


class Fit:
    """One training in progress.

    Parameters
    ----------
    model
        Maps ``(batch, n_times, n_channels)`` to logits ``(batch, n_classes)``; trained in place, on its device.
    train, validation
        Parts without a common subject.
    training
        The recipe.
    seed
        Seeds the order of windows and the model's own draws. Initialisation and dropout draw from torch's default
        generator, which the caller has seeded.

    Raises
    ------
    DataError
        The parts share a subject.
    """

    def __init__(
        self, model: nn.Module, train: Part, validation: Part, training: Training, seed: int
    ) -> None:
        require_disjoint(train=train.part_subjects, validation=validation.part_subjects)
        self.model, self.train, self.validation = model, train, validation
        self.training, self.seed = training, seed
        self.device = next(model.parameters()).device
        self.optimiser = make_optimiser(model, training)
        factor = learning_rate_factor(training, steps_per_epoch=-(-len(train) // training.batch_size))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimiser, factor)
        self.averaged = AveragedModel(model) if training.weight_averaging else None
        self.order = torch_generator(seed, "order")
        self.history: list[Epoch] = []
        self.best_f1, self.best_epoch, self.best_weights = -np.inf, 0, dict[str, Tensor]()

    @property
    def finished(self) -> bool:
        """Whether the last epoch is over or patience has run out."""
        n_epochs, patience = len(self.history), self.training.patience
        stalled = patience is not None and n_epochs - self.best_epoch >= patience and n_epochs > 0
        return stalled or n_epochs >= self.training.epochs

    def run_epoch(self, on_step: OnStep | None = None) -> Epoch:
        """Train one epoch, validate, and keep the weights if they are the best so far.

        ``on_step`` gets the share of the epoch's training windows that are done, after each step.

        Raises
        ------
        DivergedError
            A loss, a gradient or a logit is not finite; no step was taken with it.
        """
        started = time.perf_counter()
        train_loss, learning_rate = self._train_one_epoch(on_step)
        if self.averaged is not None:
            self.averaged.update_parameters(self.model)
        judged = self.model if self.averaged is None else self.averaged.module
        logits = predict(judged, self.validation, self.training.batch_size, self.seed)
        labels = self.validation.part_labels
        epoch = Epoch(
            epoch=len(self.history) + 1,
            train_loss=train_loss,
            val_loss=mean_loss(logits, labels),
            val_f1=macro_f1(logits, labels),
            learning_rate=learning_rate,
            seconds=time.perf_counter() - started,
        )
        self.history.append(epoch)
        self._keep_if_best(epoch, judged)
        return epoch

    def _train_one_epoch(self, on_step: OnStep | None) -> tuple[float, float]:
        """Take the steps of one epoch; return the mean loss of its windows and the last step's learning rate."""
        self.model.train()
        # Validation reseeds the generator that training draws from, so every epoch gets its own stream.
        seed_draws(self.model, self.seed, f"training epoch {len(self.history) + 1}")
        total, learning_rate, n_done = 0.0, 0.0, 0
        positions = torch.randperm(len(self.train), generator=self.order).numpy()
        for windows, labels in self.train.batches(positions, self.training.batch_size):
            self.optimiser.zero_grad(set_to_none=True)
            losses = self._accumulate(copied_to(self.device, windows), copied_to(self.device, labels))
            clipped = nn.utils.clip_grad_norm_(self.model.parameters(), self.training.clip_norm)
            # The step's one wait for the device: all that Python has to know, fetched together.
            *parts, norm = torch.stack([*losses, clipped]).tolist()
            loss = sum(parts)
            if not np.isfinite([loss, norm]).all():
                raise DivergedError(f"training loss {loss}, gradient norm {norm}: not finite")
            learning_rate = self.optimiser.param_groups[0]["lr"]
            self.optimiser.step()
            self.schedule.step()
            total += loss * len(labels)
            n_done += len(labels)
            if on_step is not None:
                on_step(n_done / len(self.train))
        return total / len(self.train), learning_rate

    def _accumulate(self, windows: Tensor, labels: Tensor) -> list[Tensor]:
        """Add up the gradients of a batch; return what each micro-batch adds to the mean loss, unfetched."""
        losses = list[Tensor]()
        size = self.training.micro_batch_size or len(labels)
        bfloat16 = self.training.precision == "bfloat16"
        for micro_batch, truth in zip(windows.split(size), labels.split(size), strict=True):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=bfloat16):
                logits = self.model(micro_batch)
            logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
            loss = F.cross_entropy(logits, truth, label_smoothing=self.training.label_smoothing)
            loss = loss * (len(truth) / len(labels))
            loss.backward()
            losses.append(loss.detach())
        return losses

    def _keep_if_best(self, epoch: Epoch, judged: nn.Module) -> None:
        """Keep the weights of a better epoch; a tie keeps the earlier epoch's."""
        gain = epoch.val_f1 - self.best_f1
        if gain > 0 and gain >= self.training.min_improvement:
            self.best_f1, self.best_epoch = epoch.val_f1, epoch.epoch
            self.best_weights = {name: value.detach().clone() for name, value in judged.state_dict().items()}

    def state_dict(self) -> dict[str, Any]:
        """Return everything that the next epoch depends on: tensors, numbers and texts only."""
        return {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "schedule_step": self.schedule.last_epoch,
            "averaged": None if self.averaged is None else self.averaged.state_dict(),
            "order": self.order.get_state(),
            "default_generator": torch.get_rng_state(),
            "cuda_generator": torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None,
            "history": [epoch.model_dump() for epoch in self.history],
            "best": {"f1": float(self.best_f1), "epoch": self.best_epoch, "weights": self.best_weights},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state taken between two epochs."""
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.schedule.last_epoch = state["schedule_step"]
        if self.averaged is not None:
            self.averaged.load_state_dict(state["averaged"])
        self.order.set_state(state["order"])
        torch.set_rng_state(state["default_generator"])
        if state["cuda_generator"] is not None:
            torch.cuda.set_rng_state(state["cuda_generator"], self.device)
        self.history = [Epoch(**epoch) for epoch in state["history"]]
        best = state["best"]
        self.best_f1, self.best_epoch, self.best_weights = best["f1"], best["epoch"], best["weights"]


MakeFit = Callable[[nn.Module, Part, Part, Training, int], Fit]
"""Makes a training of model, training part, validation part, protocol and seed."""
