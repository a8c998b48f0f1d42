"""Informer: only the queries whose attention is far from uniform attend, judged by a random sample of keys.

Source: Zhou et al., "Informer" (AAAI 2021), as adapted to classification in DL4mHealth/Medformer at 446275f,
``models/Informer.py`` and ``layers/SelfAttention_Family.py``.
"""

import math

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.attention import Attention
from bench.models.layers.classifier import Classifier
from bench.models.layers.copying import copied_to
from bench.models.layers.embedding import SERIES_RENAMES, SeriesEmbedding
from bench.models.layers.encoder import ENCODER_RENAMES, Encoder
from bench.models.layers.head import HEAD_RENAMES, TokenHead
from bench.models.reference_weights import ReferenceNames

REVISION = 2

REFERENCE = ReferenceNames(
    renames={
        **SERIES_RENAMES,
        **ENCODER_RENAMES,
        **HEAD_RENAMES,
    },
    unused=(r"dec_embedding\..*", r"decoder\..*"),
)


class Informer(Classifier):
    """Classify ``(batch, n_times, n_channels)`` by sparse attention between time steps.

    Keys are sampled anew in every pass, in evaluation too: one call of ``torch.randint`` per layer, in layer order,
    from the generator ``draws``. Reseed it (``model.draws.manual_seed``) for outputs that can be reproduced.
    """

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        d_model: int = 128,
        d_ff: int = 256,
        n_heads: int = 8,
        n_layers: int = 6,
        dropout: float = 0.1,
        factor: int = 1,
    ) -> None:
        super().__init__()
        if factor < 1:
            raise UsageError(f"informer's factor must be at least 1, got {factor}")
        self.draws = torch.Generator().manual_seed(0)
        self.embedding = SeriesEmbedding(n_channels, n_times, d_model, dropout)
        self.encoder = Encoder(
            lambda: Attention(d_model, n_heads, SparseAttention(factor, self.draws)),
            n_layers,
            d_model,
            d_ff,
            dropout,
        )
        self.head = TokenHead(n_times, d_model, n_classes, dropout)


class SparseAttention(nn.Module):
    """Attention for the ``factor * ln(n_times)`` most selective queries; all others get the mean of the values.

    There is no dropout on the probabilities.
    """

    def __init__(self, factor: int, draws: torch.Generator) -> None:
        super().__init__()
        self.factor = factor
        self.draws = draws

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Map three times ``(batch, heads, n_times, head width)`` to the same shape, heads mixed with time."""
        n_times, width = v.shape[2:]
        # With a single step, ln(1) = 0: one active query then gives what none gives.
        n_active = max(1, min(self.factor * math.ceil(math.log(n_times)), n_times))
        sample = copied_to(q.device, torch.randint(n_times, (n_times, n_active), generator=self.draws))
        active = query_sparsity(q, k, sample).topk(n_active, dim=-1).indices  # (batch, heads, active)
        active = active.unsqueeze(-1).expand(-1, -1, -1, width)
        attended = F.scaled_dot_product_attention(q.gather(2, active), k, v)
        mean = v.mean(dim=2, keepdim=True).to(attended.dtype)
        return mix_heads_with_time(mean.expand(v.shape).scatter(2, active, attended))


@torch.no_grad()
def query_sparsity(q: Tensor, k: Tensor, sample: Tensor) -> Tensor:
    """Return how far each query's attention is from uniform, ``(batch, heads, n_times)``.

    The largest product with the keys in the query's row of ``sample`` ``(n_times, sampled)``, minus the sum of its
    products over the number of steps. One sampled key at a time, so that sampled keys never lie in memory together.
    """
    steps = k.transpose(1, 2)  # (batch, n_times, heads, width), where a step lies in one piece
    sampled = (steps.index_select(1, keys).transpose(1, 2) for keys in sample.unbind(1))
    products = torch.stack([(q * keys).sum(dim=-1) for keys in sampled], dim=-1)
    return products.amax(dim=-1) - products.sum(dim=-1) / k.shape[2]


def mix_heads_with_time(x: Tensor) -> Tensor:
    """Return ``(batch, heads, n_times, width)`` read as ``(batch, n_times, heads * width)``, split in heads again.

    Kept from the published code, which does not move the head axis back before it joins the heads.
    """
    batch, n_heads, n_times, width = x.shape
    return rearrange(x.reshape(batch, n_times, n_heads * width), "b t (h e) -> b h t e", h=n_heads)
