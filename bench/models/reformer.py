"""Reformer: time steps attend their neighbours in an order sorted by locality-sensitive hashes.

Source: Kitaev et al., "Reformer" (ICLR 2020), as adapted to classification in DL4mHealth/Medformer at 446275f,
``models/Reformer.py`` and ``layers/SelfAttention_Family.py``. The attention is that of reformer-pytorch 1.4.4.
"""

from typing import Any

import torch
import torch.nn.functional as F
from einops import rearrange
from reformer_pytorch import LSHAttention
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.classifier import Classifier
from bench.models.layers.copying import copied_to
from bench.models.layers.embedding import SERIES_RENAMES, SeriesEmbedding
from bench.models.layers.encoder import ENCODER_RENAMES, Encoder
from bench.models.layers.head import HEAD_RENAMES, TokenHead
from bench.models.layers.precision import at_least_float32
from bench.models.reference_weights import ReferenceNames

REVISION = 2

BUCKET_SIZE = 4
N_HASHES = 4

REFERENCE = ReferenceNames(
    renames={
        **SERIES_RENAMES,
        r"encoder\.attn_layers\.(\d+)\.attention\.attn\.toqk\.weight": (
            r"encoder.layers.\1.attention.query_key.weight"
        ),
        r"encoder\.attn_layers\.(\d+)\.attention\.attn\.tov\.weight": r"encoder.layers.\1.attention.value.weight",
        r"encoder\.attn_layers\.(\d+)\.attention\.attn\.to_out\.(weight|bias)": (
            r"encoder.layers.\1.attention.out.\2"
        ),
        **ENCODER_RENAMES,
        **HEAD_RENAMES,
    }
)


class Reformer(Classifier):
    """Classify ``(batch, n_times, n_channels)`` by hashed attention between time steps.

    Steps are hashed anew in every pass, in evaluation too: one call of ``torch.randn`` per layer, in layer order, from
    the generator ``draws``. Reseed it (``model.draws.manual_seed``) for outputs that can be reproduced.
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
    ) -> None:
        super().__init__()
        self.draws = torch.Generator().manual_seed(0)
        self.embedding = SeriesEmbedding(n_channels, n_times, d_model, dropout)
        self.encoder = Encoder(
            lambda: HashedAttention(d_model, n_heads, self.draws), n_layers, d_model, d_ff, dropout
        )
        self.head = TokenHead(n_times, d_model, n_classes, dropout)


class HashedAttention(nn.Module):
    """Project, attend within chunks of the order that the hashes give, join the heads, project.

    Queries and keys are one projection. The series is padded with zeros to whole pairs of buckets; the padding takes
    part as keys and values, as in the published code, and is cut off at the end.
    """

    def __init__(self, d_model: int, n_heads: int, draws: torch.Generator) -> None:
        super().__init__()
        if d_model % n_heads:
            raise UsageError(
                f"d_model must be a multiple of n_heads, got d_model={d_model}, n_heads={n_heads}"
            )
        self.n_heads = n_heads
        self.query_key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model)
        self.mechanism = DrawnHashAttention(draws)

    def forward(self, x: Tensor, _keys: Tensor, _values: Tensor) -> Tensor:
        """Map ``(batch, n_times, d_model)`` to the same shape."""
        n_times = x.shape[1]
        padded = F.pad(x, (0, 0, 0, -n_times % (2 * BUCKET_SIZE)))
        qk, v = (
            rearrange(project(padded), "b t (h e) -> (b h) t e", h=self.n_heads)
            for project in (self.query_key, self.value)
        )
        attended, _, _ = self.mechanism(qk, v)
        return self.out(rearrange(attended, "(b h) t e -> b t (h e)", h=self.n_heads))[:, :n_times]


class DrawnHashAttention(LSHAttention):
    """The library's attention, hashed with rotations from a given generator instead of the global one."""

    # Products held at once while hashing: 256 MiB in float32.
    MAX_PRODUCTS = 2**26

    def __init__(self, draws: torch.Generator) -> None:
        super().__init__(bucket_size=BUCKET_SIZE, n_hashes=N_HASHES, causal=False)
        self.draws = draws

    @torch.no_grad()
    def hash_vectors(self, n_buckets: int, vecs: Tensor, **_cache: Any) -> Tensor:
        """Map ``(batch * heads, n_times, width)`` to bucket numbers ``(batch * heads, hashes * n_times)``.

        The library's cache of buckets, for reversible layers, is not kept.
        """
        vecs = at_least_float32(vecs)
        drawn = torch.randn((1, vecs.shape[-1], self.n_hashes, n_buckets // 2), generator=self.draws)
        rotations = copied_to(vecs.device, drawn.to(vecs.dtype)).squeeze(0)
        rows = max(1, self.MAX_PRODUCTS // (vecs.shape[1] * self.n_hashes * n_buckets // 2))
        with torch.autocast(vecs.device.type, enabled=False):
            buckets = torch.cat([nearest(part, rotations) for part in vecs.split(rows)])
        # Rounds get bucket numbers of their own.
        offsets = torch.arange(self.n_hashes, device=vecs.device).unsqueeze(1) * n_buckets
        return (buckets + offsets).flatten(1)


def nearest(vecs: Tensor, rotations: Tensor) -> Tensor:
    """Return which of the directions ``(r, -r)`` is nearest, the first if several are.

    Takes ``(rows, n_times, width)`` and ``(width, hashes, directions)``, returns ``(rows, hashes, n_times)``.
    """
    products = torch.einsum("bte,ehi->bhti", vecs, rotations)
    (high, towards), (low, away) = products.max(dim=-1), products.min(dim=-1)
    return torch.where(high >= -low, towards, away + products.shape[-1])
