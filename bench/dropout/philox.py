"""Philox4x32-7 in NumPy: the random words that the C kernels draw, for all that is written in torch.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), section 2 and table 2.
"""

import numpy as np

ROUNDS = 7
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)

Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]


def philox(counter: tuple[Words, Words, Words, Words], key: int) -> Words:
    """Return the four words of each counter on a new last axis, numbers below 2^32.

    Parameters
    ----------
    counter
        Four arrays of numbers below 2^32 that can be broadcast against each other.
    key
        64 bits.
    """
    x0, x1, x2, x3 = counter
    keys = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(ROUNDS):
        products = x0 * np.uint64(MULTIPLIERS[0]), x2 * np.uint64(MULTIPLIERS[1])
        x0 = (products[1] >> HALF) ^ x1 ^ np.uint64(keys[0])
        x2 = (products[0] >> HALF) ^ x3 ^ np.uint64(keys[1])
        x1, x3 = products[1] & LOW, products[0] & LOW
        keys = [(number + step) & 0xFFFFFFFF for number, step in zip(keys, KEY_STEPS, strict=True)]
    return np.stack(np.broadcast_arrays(x0, x1, x2, x3), axis=-1)


def sixteen_bits(words: Words) -> np.ndarray:
    """Return ``(..., n, words)`` as ``(..., n * words * 2)`` numbers of 16 bits, low halves first."""
    halves = words.astype("<u4").view("<u2")
    return halves.reshape(*halves.shape[:-2], -1)
