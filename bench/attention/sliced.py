"""The backend ``torch``: slices of the matrix of probabilities that fit a cache, each computed again for the gradient.

The whole matrix ``(batch, heads, tokens, tokens)`` would be kept several times for the backward pass: 1.1 GiB for one
window of 3000 steps. Slices that fit a cache cost less time than the whole matrix, even computed twice (3000 steps:
1.3 s against 1.7 s a window; 256 steps, 32 windows: 0.33 s against 0.41 s).
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from bench.attention.kept import factors
from bench.dropout.dropped import Dropped

MATRIX_BUDGET_BYTES = 4 * 2**20


def attend(q: Tensor, k: Tensor, v: Tensor, scale: float, dropped: Dropped) -> Tensor:
    """Return ``(batch, heads, tokens of q, width of v)``, a slice of pairs or of one pair's queries at a time."""
    batch, n_queries = q.size(0), q.size(2)
    n_pairs, n_rows = _slice_sizes(q, k)
    q, k, v = (tensor.flatten(0, 1) for tensor in (q, k, v))  # (pairs, tokens, width)
    outputs = []
    for pair in range(0, len(q), n_pairs):
        pairs = slice(pair, min(pair + n_pairs, len(q)))
        rows = [
            _slice(q[pairs, row : row + n_rows], k[pairs], v[pairs], scale, dropped, pair, row)
            for row in range(0, n_queries, n_rows)
        ]
        outputs.append(torch.cat(rows, dim=1))
    return torch.cat(outputs).unflatten(0, (batch, -1))


def _slice_sizes(q: Tensor, k: Tensor) -> tuple[int, int]:
    """Return how many pairs the budget allows at once, and how many queries of each."""
    n_queries = q.size(2)
    affordable = MATRIX_BUDGET_BYTES // (k.size(2) * q.element_size())  # rows of the matrix
    return max(1, affordable // n_queries), min(n_queries, max(1, affordable))


def _slice(q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> Tensor:
    """Attend under checkpointing; nothing is drawn from a generator that would have to be put back."""
    return checkpoint(_attend_slice, q, k, v, *rest, use_reentrant=False, preserve_rng_state=False)


def _attend_slice(
    q: Tensor, k: Tensor, v: Tensor, scale: float, dropped: Dropped, first_pair: int, first_row: int
) -> Tensor:
    """Attend from some queries of some pairs, ``(pairs, queries, width)``; the first ones' numbers are given."""
    probabilities = torch.baddbmm(q.new_empty(()), q, k.transpose(1, 2), beta=0, alpha=scale).softmax(dim=-1)
    pairs, rows = range(first_pair, first_pair + len(q)), range(first_row, first_row + q.size(1))
    return (probabilities * factors(dropped, pairs, rows, k.size(1), q.dtype)) @ v
