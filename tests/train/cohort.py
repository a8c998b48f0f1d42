"""Small parts with a learnable difference between the classes, for tests of the trainer."""

import numpy as np
from torch import nn

from bench import models
from bench.settings import Training
from bench.train.part import Part
from bench.train.seeding import seed_default_generators

N_TIMES, N_CHANNELS, N_CLASSES = 16, 2, 2


def make_part(subjects: str, seed: int, n_per_subject: int = 8) -> Part:
    """Windows of one-letter subjects, half of them of class 1, whose second channel is shifted."""
    generator = np.random.default_rng(seed)
    n = n_per_subject * len(subjects)
    labels = np.arange(n) % N_CLASSES
    windows = generator.normal(size=(n, N_TIMES, N_CHANNELS)).astype(np.float32)
    windows[labels == 1, :, 1] += 1.0
    return Part(windows, labels, np.repeat(list(subjects), n_per_subject), np.arange(n))


def training(**changes: object) -> Training:
    """A short training."""
    values = {
        "optimizer": "adamw",
        "learning_rate": 3e-3,
        "weight_decay": 0.1,
        "schedule": "cosine",
        "warmup_epochs": 1,
        "warmup_start": 0.01,
        "epochs": 3,
        "batch_size": 10,
        "label_smoothing": 0.02,
        "clip_norm": 4.0,
        "augmentation": False,
        "weight_averaging": False,
    }
    return Training.model_validate(values | changes)


def make_model(name: str = "transformer", seed: int = 41, **overrides: object) -> nn.Module:
    """A small model, initialised from a seed."""
    small = {"d_model": 16, "n_layers": 1, "dropout": 0.1}
    if name == "transformer":
        small |= {"d_ff": 16, "n_heads": 2}
    seed_default_generators(seed)
    return models.build(name, N_CHANNELS, N_TIMES, N_CLASSES, **(small | overrides))
