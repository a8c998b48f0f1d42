"""Multi-head attention: four projections around an exchangeable mechanism.

A mechanism maps queries, keys and values, each ``(batch, heads, tokens, head width)``, to the same shape.
Source: DL4mHealth/Medformer at 446275f, ``layers/SelfAttention_Family.py``.
"""

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from bench.attention import CHOICE, attention
from bench.dropout import Dropped, draw_seed
from bench.errors import UsageError


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    dropout: float = 0.0,
    scale: float | None = None,
    backend: str = "auto",
) -> Tensor:
    """Return softmax(q k^T * scale) v with dropout on the probabilities.

    Parameters
    ----------
    q, k, v
        ``(batch, heads, tokens, width)``; the width of ``v`` may differ from that of ``q`` and ``k``.
    dropout
        Rate at which probabilities are zeroed; give zero in evaluation.
    scale
        Default: one over the root of the width of ``q``.
    backend
        Of :mod:`bench.attention`, for CPUs; other devices have kernels of torch's own.

    Returns
    -------
    Tensor
        ``(batch, heads, tokens of q, width of v)``.
    """
    factor = q.size(-1) ** -0.5 if scale is None else scale
    if q.device.type != "cpu" or _is_plain(dropout, backend):
        return _torch_attention(q, k, v, dropout, factor)
    seed = draw_seed() if dropout else 0
    return attention(q, k, v, scale=factor, dropped=Dropped.at(dropout, seed), backend=backend)


def _is_plain(dropout: float, backend: str) -> bool:
    """Tell whether torch's attention serves on a CPU: nothing is dropped, and our kernel is not wanted.

    While operations are counted, only the plain form of torch's is allowed, which shows its products.
    """
    if dropout:
        return False
    return not torch.backends.cuda.flash_sdp_enabled() or CHOICE.choose(backend, "cpu") == "torch"


def _torch_attention(q: Tensor, k: Tensor, v: Tensor, dropout: float, scale: float) -> Tensor:
    width = v.size(-1)
    if q.size(-1) != width and torch.backends.cuda.flash_sdp_enabled():
        # Fused kernels want equal widths (and on a GPU multiples of eight); zero features change no product. Where
        # only the plain form is allowed, as while operations are counted, there is nothing to pad for.
        equal = -(-max(q.size(-1), width) // 8) * 8
        q, k, v = (F.pad(tensor, (0, equal - tensor.size(-1))) for tensor in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, scale=scale)[..., :width]


class FullAttention(nn.Module):
    """Softmax attention over all tokens, with dropout on the probabilities.

    ``backend`` is one of :mod:`bench.attention`.
    """

    def __init__(self, dropout: float, backend: str = "auto") -> None:
        super().__init__()
        self.dropout = dropout
        self.backend = backend

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attend from ``q`` to ``k`` and ``v``, scaled by the root of the head width."""
        return attend(q, k, v, dropout=self.dropout if self.training else 0.0, backend=self.backend)


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
