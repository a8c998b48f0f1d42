"""Which probabilities of attention are kept, as a matrix, for the backends that are written in torch."""

import numpy as np
import torch
from torch import Tensor

from bench.dropout.dropped import Dropped
from bench.dropout.philox import philox, sixteen_bits


def factors(dropped: Dropped, pairs: range, queries: range, n_keys: int, dtype: torch.dtype) -> Tensor:
    """Return what probabilities are multiplied by, ``(pairs, queries, n_keys)``: zero, or ``keep_scale``."""
    pair, query, block = (
        np.arange(numbers.start, numbers.stop, dtype=np.uint64)
        for numbers in (pairs, queries, range(-(-n_keys // 8)))
    )
    counter = (query[:, None], block, pair[:, None, None], np.uint64(0) * block)
    bits = sixteen_bits(philox(counter, dropped.seed))[..., :n_keys]
    return torch.from_numpy(bits >= dropped.threshold).to(dtype) * dropped.keep_scale
