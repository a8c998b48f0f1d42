"""Optimiser and learning-rate schedule of a recipe."""

import math
from collections.abc import Callable

import torch
from torch import nn

from bench.settings import Training


def make_optimiser(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Return the recipe's optimiser.

    Tensors that the model's ``no_weight_decay()`` names (MedMamba's A and D, as its published code marks them) are
    never decayed; all others are.
    """
    spared: set[str] = model.no_weight_decay() if hasattr(model, "no_weight_decay") else set()  # pyright: ignore[reportCallIssue]
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    groups = [
        {"params": [p for name, p in named if name not in spared], "weight_decay": training.weight_decay},
        {"params": [p for name, p in named if name in spared], "weight_decay": 0.0},
    ]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[training.optimizer]
    return kind([group for group in groups if group["params"]], lr=training.learning_rate)


def learning_rate_factor(training: Training, steps_per_epoch: int) -> Callable[[int], float]:
    """Return the factor on the peak learning rate as a function of the optimiser step, counted from 0.

    The warm-up is linear per step from ``warmup_start`` to 1; a cosine then falls to 0 at the last step.
    """
    warmup = training.warmup_epochs * steps_per_epoch
    total = training.epochs * steps_per_epoch

    def factor(step: int) -> float:
        if step < warmup:
            return training.warmup_start + (1 - training.warmup_start) * step / warmup
        if training.schedule == "constant":
            return 1.0
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - 1 - warmup)))

    return factor
