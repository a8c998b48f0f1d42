"""Multi-head attention: four projections around an exchangeable mechanism.

A mechanism maps queries, keys and values, each ``(batch, heads, tokens, head width)``, to the same shape.
Source: DL4mHealth/Medformer at 446275f, ``layers/SelfAttention_Family.py``.
"""

from functools import partial

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from bench.errors import UsageError

# On a CPU, attention with dropout goes through the whole matrix (batch, heads, tokens, tokens), kept several times for
# the backward pass: 1.1 GiB for one window of 3000 steps. A larger matrix than this is computed in slices, and again in
# the backward pass. Slices that fit a cache cost less time than the whole matrix, even computed twice (3000 steps:
# 1.3 s against 1.7 s a window; 256 steps, 32 windows: 0.33 s against 0.41 s).
MATRIX_BUDGET_BYTES = 4 * 2**20


def attend(q: Tensor, k: Tensor, v: Tensor, *, dropout: float = 0.0, scale: float | None = None) -> Tensor:
    """Return softmax(q k^T * scale) v with dropout on the probabilities.

    Parameters
    ----------
    q, k, v
        ``(batch, heads, tokens, width)``; the width of ``v`` may differ from that of ``q`` and ``k``.
    dropout
        Rate at which probabilities are zeroed; give zero in evaluation.
    scale
        Default: one over the root of the width of ``q``.

    Returns
    -------
    Tensor
        ``(batch, heads, tokens of q, width of v)``.
    """
    width = v.size(-1)
    if scale is None:
        scale = q.size(-1) ** -0.5
    if q.size(-1) != width and torch.backends.cuda.flash_sdp_enabled():
        # Fused kernels want equal widths (and on a GPU multiples of eight); zero features change no product. Where
        # only the plain form is allowed, as while operations are counted, there is nothing to pad for.
        equal = -(-max(q.size(-1), width) // 8) * 8
        q, k, v = (F.pad(one, (0, equal - one.size(-1))) for one in (q, k, v))
    whole = partial(F.scaled_dot_product_attention, dropout_p=dropout, scale=scale)
    if dropout == 0 or q.device.type != "cpu" or _matrix_bytes(q, k) <= MATRIX_BUDGET_BYTES:
        return whole(q, k, v)[..., :width]
    return _in_slices(whole, q, k, v)[..., :width]


def _matrix_bytes(q: Tensor, k: Tensor) -> int:
    return q.shape[:-1].numel() * k.size(-2) * q.element_size()


def _in_slices(whole: "partial[Tensor]", q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attend for as many pairs of window and head, or queries of one pair, as the budget allows, under checkpointing.

    Checkpointing restores the random state, so the recomputed slice has the same dropout mask.
    """
    batch, n_queries = q.size(0), q.size(2)
    q, k, v = (one.flatten(0, 1).unsqueeze(1) for one in (q, k, v))  # (batch * heads, 1, tokens, width)
    affordable = MATRIX_BUDGET_BYTES // _matrix_bytes(q[:1, :, :1], k)  # rows of the matrix
    n_pairs, n_rows = max(1, affordable // n_queries), min(n_queries, max(1, affordable))
    outputs = []
    for queries, keys, values in zip(q.split(n_pairs), k.split(n_pairs), v.split(n_pairs), strict=True):
        rows = [
            checkpoint(whole, some, keys, values, use_reentrant=False)
            for some in queries.split(n_rows, dim=2)
        ]
        outputs.append(torch.cat(rows, dim=2))
    return torch.cat(outputs).squeeze(1).unflatten(0, (batch, -1))


class FullAttention(nn.Module):
    """Softmax attention over all tokens, with dropout on the probabilities."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attend from ``q`` to ``k`` and ``v``, scaled by the root of the head width."""
        return attend(q, k, v, dropout=self.dropout if self.training else 0.0)


class Attention(nn.Module):
    """Project, split in heads, apply a mechanism, join the heads in order, project."""

    def __init__(self, d_model: int, n_heads: int, mechanism: nn.Module) -> None:
        super().__init__()
        if d_model % n_heads:
            raise UsageError(
                f"d_model must be a multiple of n_heads, got d_model={d_model}, n_heads={n_heads}"
            )
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)
        self.mechanism = mechanism

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, *context: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` three times to ``(batch, tokens of queries, d_model)``.

        ``context`` is what the mechanism takes beyond queries, keys and values.
        """
        q, k, v = (
            rearrange(project(x), "b t (h e) -> b h t e", h=self.n_heads)
            for project, x in ((self.query, queries), (self.key, keys), (self.value, values))
        )
        return self.out(rearrange(self.mechanism(q, k, v, *context), "b h t e -> b t (h e)"))
