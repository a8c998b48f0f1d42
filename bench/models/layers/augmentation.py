"""Medformer's augmentations: in training one entry of a list is picked at random for every call.

They act on ``(batch, rows, columns)``: rows and columns are patches and features in the paper's version, channels and
steps in the latest one. Flip, shuffle and the two masks decide once for the whole batch.
Source: DL4mHealth/Medformer at 446275f and 891f65b, ``layers/Augmentation.py``.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.errors import UsageError, unknown_name
from bench.models.layers.copying import copied_to
from bench.models.layers.precision import at_least_float32

Augmentation = Callable[[Tensor, torch.Generator], Tensor]
Strengthened = Callable[[Tensor, float, torch.Generator], Tensor]


class RandomAugmentation(nn.Module):
    """Apply one of several augmentations, picked uniformly at every call; the identity in evaluation.

    Parameters
    ----------
    entries
        Names with an optional strength, such as ``drop0.5`` or ``flip``.
    known
        The names that this version of the model has.
    draws
        Where all random numbers but those of dropout come from.

    Raises
    ------
    UsageError
        There is no entry, or one is unknown or has an impossible strength.
    """

    def __init__(self, entries: Sequence[str], known: Collection[str], draws: torch.Generator) -> None:
        super().__init__()
        if not entries:
            raise UsageError("augmentations is empty; give at least one entry, 'none' for no augmentation")
        self.augmentations = [parse(entry, known) for entry in entries]
        self.draws = draws

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, rows, columns)`` to the same shape."""
        if not self.training:
            return x
        picked = int(torch.randint(len(self.augmentations), (1,), generator=self.draws))
        return self.augmentations[picked](x, self.draws)


def none(x: Tensor, _strength: float, _draws: torch.Generator) -> Tensor:
    """Return the input."""
    return x


def drop(x: Tensor, rate: float, _draws: torch.Generator) -> Tensor:
    """Ordinary dropout."""
    return F.dropout(x, rate)


def jitter(x: Tensor, sd: float, draws: torch.Generator) -> Tensor:
    """Add normal noise."""
    return x + sd * _like(x, torch.randn(x.shape, generator=draws))


def scale(x: Tensor, sd: float, draws: torch.Generator) -> Tensor:
    """Multiply each row of each window by one plus normal noise."""
    return x * (1 + sd * _like(x, torch.randn(*x.shape[:2], 1, generator=draws)))


def flip(x: Tensor, probability: float, draws: torch.Generator) -> Tensor:
    """Reverse the columns of the whole batch, or leave it."""
    return x.flip(-1) if _happens(probability, draws) else x


def shuffle(x: Tensor, probability: float, draws: torch.Generator) -> Tensor:
    """Permute the rows of the whole batch alike, or leave it."""
    if not _happens(probability, draws):
        return x
    return x[:, copied_to(x.device, torch.randperm(x.size(1), generator=draws))]


def frequency(x: Tensor, rate: float, draws: torch.Generator) -> Tensor:
    """Zero each frequency of each row independently."""
    spectrum = torch.fft.rfft(at_least_float32(x))
    keep = torch.rand(spectrum.shape, generator=draws) >= rate
    return torch.fft.irfft(spectrum * copied_to(x.device, keep), n=x.size(-1)).to(x.dtype)


def mask(x: Tensor, part: float, draws: torch.Generator) -> Tensor:
    """Zero a part of the columns, rounded down, the same for the whole batch and all rows."""
    return x * _like(x, _kept(x.size(-1), part, draws))


def channel(x: Tensor, part: float, draws: torch.Generator) -> Tensor:
    """Zero a part of the rows, rounded down, the same for the whole batch."""
    return x * _like(x, _kept(x.size(1), part, draws)).unsqueeze(-1)


# Name -> function, strength where an entry gives none, largest strength.
AUGMENTATIONS: dict[str, tuple[Strengthened, float, float]] = {
    "none": (none, 0.0, 0.0),
    "drop": (drop, 0.1, 1.0),
    "jitter": (jitter, 0.1, float("inf")),
    "scale": (scale, 0.1, float("inf")),
    "flip": (flip, 0.5, 1.0),
    "shuffle": (shuffle, 0.5, 1.0),
    "frequency": (frequency, 0.1, 1.0),
    "mask": (mask, 0.1, 1.0),
    "channel": (channel, 0.1, 1.0),
}


def parse(entry: str, known: Collection[str]) -> Augmentation:
    """Return the augmentation that an entry such as ``jitter0.2`` names.

    Raises
    ------
    UsageError
        The name is not in ``known``, or the strength is out of bounds.
    """
    found = re.fullmatch(r"([A-Za-z_]*)(\d*\.?\d+)?", entry)
    name = found[1] if found else entry
    if name not in known:
        raise unknown_name("augmentation", name, known)
    function, default, largest = AUGMENTATIONS[name]
    strength = float(found[2]) if found and found[2] else default
    if strength > largest:
        raise UsageError(f"augmentation '{entry}': the number after '{name}' must be at most {largest:g}")
    return partial(_with_strength, function, strength)


def _with_strength(function: Strengthened, strength: float, x: Tensor, draws: torch.Generator) -> Tensor:
    return function(x, strength, draws)


def _happens(probability: float, draws: torch.Generator) -> bool:
    return bool(torch.rand(1, generator=draws) < probability)


def _kept(n: int, part: float, draws: torch.Generator) -> Tensor:
    kept = torch.ones(n)
    kept[torch.randperm(n, generator=draws)[: int(n * part)]] = 0
    return kept


def _like(x: Tensor, drawn: Tensor) -> Tensor:
    return copied_to(x.device, drawn.to(x.dtype))
