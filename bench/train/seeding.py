"""All seeding: torch's default generator, and generators of our own.

Initialisation and dropout can draw from torch's default generator only. Every
other draw has its own generator, derived from the cell's seed and the draw's purpose, so that an added draw in
one place changes no other.
"""

import zlib

import numpy as np
import torch
from torch import nn


def seed_default_generators(seed: int) -> None:
    """Seed torch's default generators (CPU and every GPU) for initialisation and dropout."""
    torch.manual_seed(seed)


def derived_seed(seed: int, purpose: str) -> int:
    """Return the seed for one purpose, the same on every machine."""
    return int(np.random.SeedSequence([seed, zlib.crc32(purpose.encode())]).generate_state(1)[0])


def torch_generator(seed: int, purpose: str) -> torch.Generator:
    """Return torch's generator on the CPU for one purpose, such as ``order``."""
    return torch.Generator().manual_seed(derived_seed(seed, purpose))


def seed_draws(model: nn.Module, seed: int, purpose: str) -> None:
    """Reseed the generator of a model that draws numbers of its own (Informer, Reformer, Medformer)."""
    draws = getattr(model, "draws", None)
    if isinstance(draws, torch.Generator):
        draws.manual_seed(derived_seed(seed, purpose))
