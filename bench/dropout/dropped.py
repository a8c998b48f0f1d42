"""What one call of a layer drops, in three numbers from which every place can be drawn again. Free of torch."""

from typing import NamedTuple

from bench.errors import UsageError

LEVELS = 2**16
"""Sixteen random bits decide; a rate is rounded to a multiple of one in 65536."""


class Dropped(NamedTuple):
    """What one call of a layer drops: places are dropped where their 16 random bits are below ``threshold``.

    The bits are halves of the words that Philox4x32-7 makes of the key ``seed`` and a counter that tells the place.

    Attributes
    ----------
    seed
        Key of the generator, 64 bits.
    threshold
        From 0, nothing is dropped, to 65535.
    keep_scale
        What is kept is multiplied by this, so that the mean stays: exactly one over the share that is kept.
    """

    seed: int
    threshold: int
    keep_scale: float

    @classmethod
    def at(cls, rate: float, seed: int) -> "Dropped":
        """Return what is dropped at a rate; at rate 1 that is everything, by a scale of zero.

        Raises
        ------
        UsageError
            The rate is not within 0 and 1.
        """
        if not 0 <= rate <= 1:
            raise UsageError(f"dropout must be from 0 to 1, got {rate}")
        threshold = round(rate * LEVELS)
        if threshold == LEVELS:
            return cls(seed, LEVELS - 1, 0.0)
        return cls(seed, threshold, LEVELS / (LEVELS - threshold))


def draw_seed() -> int:
    """Draw the seed of one call from torch's default generator on the CPU, which the caller has seeded."""
    import torch

    return int(torch.empty((), dtype=torch.int64).random_(-(2**63), 2**63 - 1).item()) % 2**64
