"""What attention with dropout takes and returns, the same for every backend. Free of torch until it is called.

Per window and head, for query i and key j, with ``p`` the softmax over keys of ``scale q_i k_j``:

    out_i = sum over j of m_ij p_ij v_j        m_ij is 0 where the probability is dropped, else 1 / (1 - rate)

Which ones are dropped follows from the call's seed and the place alone (`Dropped`), so every backend drops the same
and none has to keep what was dropped for the gradient.
"""

from typing import TYPE_CHECKING, NamedTuple

from bench.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

LEVELS = 2**16
"""Sixteen random bits decide; a rate is rounded to a multiple of one in 65536."""


class Dropped(NamedTuple):
    """What one call of a layer drops: places are dropped where their 16 random bits are below ``threshold``.

    The bits of query i and key j in pair p (window times heads plus head) are one half of a word of the block that
    Philox4x32-7 makes of the key ``seed`` and the counter ``(i, j // 8, p, 0)``: word ``j % 8 // 2``, high half where j
    is odd.

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

    return int(torch.randint(-(2**63), 2**63 - 1, ()).item()) % 2**64


def check_shapes(q: "Tensor", k: "Tensor", v: "Tensor") -> None:
    """Refuse tensors that do not fit each other.

    Raises
    ------
    ValueError
        A tensor is not ``(batch, heads, tokens, width)``, or not of the others' batch, heads, keys or width.
    """
    shapes = [tuple(tensor.shape) for tensor in (q, k, v)]
    if any(len(shape) != 4 for shape in shapes):
        raise ValueError(f"attention: q, k and v must be (batch, heads, tokens, width), got {shapes}")
    if k.shape[:2] != q.shape[:2] or k.shape[3] != q.shape[3] or v.shape[:3] != k.shape[:3]:
        raise ValueError(
            "attention: k must have q's batch, heads and width, and v k's batch, heads and tokens; "
            f"q, k and v are {shapes}"
        )
