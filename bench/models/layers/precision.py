"""Arithmetic that stays in float32 when a model runs in a shorter type: Fourier transforms and hashing.

Fourier transforms do not exist in bfloat16 on every device, and a hash rounded to eight bits is another hash.
"""

import torch
from torch import Tensor


def at_least_float32(x: Tensor) -> Tensor:
    """Return ``x`` in float32, or as it is when it is float32 or float64."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
