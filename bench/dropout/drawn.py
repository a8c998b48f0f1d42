"""The backend ``torch``: factors drawn by NumPy, then one multiplication."""

import numpy as np
import torch
from torch import Tensor

from bench.dropout.dropped import Dropped
from bench.dropout.philox import philox, sixteen_bits

GROUP, LANES = 128, 16


def multiply(x: Tensor, dropped: Dropped) -> Tensor:
    """Return a contiguous tensor times its factors."""
    return x * factors(dropped, x.numel(), x.dtype).view_as(x)


def factors(dropped: Dropped, n: int, dtype: torch.dtype) -> Tensor:
    """Return what the first ``n`` numbers are multiplied by: zero, or ``keep_scale``."""
    lanes = np.arange(-(-n // GROUP) * LANES, dtype=np.uint64)
    low, high, zero = lanes & np.uint64(2**32 - 1), lanes >> np.uint64(32), np.zeros_like(lanes)
    words = philox((low, high, zero, zero), dropped.seed).reshape(-1, LANES, 4)
    halves = sixteen_bits(words[:, :, None, :])  # (groups, lanes, 8)
    bits = halves.swapaxes(1, 2).reshape(-1)[:n]
    return torch.from_numpy(bits >= dropped.threshold).to(dtype) * dropped.keep_scale
