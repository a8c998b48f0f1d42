"""MTST: one PatchTST-like encoder per patch length, all read by one classifier.

Source: Zhang et al., "Multi-resolution Time-Series Transformer" (AISTATS 2024), as adapted in DL4mHealth/Medformer at
446275f, ``models/MTST.py``: without the published model's relative positions and exchange between branches.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.attention import Attention, FullAttention
from bench.models.layers.classifier import Classifier
from bench.models.layers.encoder import ENCODER_RENAMES, Encoder
from bench.models.layers.head import HEAD_RENAMES, ChannelHead
from bench.models.layers.patching import PatchEmbedding, per_channel
from bench.models.reference_weights import ReferenceNames

REVISION = 2

REFERENCE = ReferenceNames(
    renames={
        r"patch_embeddings\.(\d+)\.value_embedding\.weight": r"embeddings.\1.value.weight",
        **ENCODER_RENAMES,
        **HEAD_RENAMES,
    },
)


class MTST(Classifier):
    """Classify ``(batch, n_times, n_channels)`` from patches of several lengths, each encoded by itself."""

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
        patch_lengths: Sequence[int] = (8, 32, 96),
        attention: str = "auto",
    ) -> None:
        super().__init__()
        if not patch_lengths:
            raise UsageError("patch_lengths is empty; give at least one length in steps")
        embeddings = [
            PatchEmbedding(n_times, d_model, dropout, patch_len=length, stride=length, padding=length)
            for length in patch_lengths
        ]
        self.embeddings = nn.ModuleList(embeddings)
        self.encoders = nn.ModuleList(
            Encoder(
                lambda: Attention(d_model, n_heads, FullAttention(dropout, attention)),
                n_layers,
                d_model,
                d_ff,
                dropout,
            )
            for _ in patch_lengths
        )
        n_tokens = sum(embedding.n_patches for embedding in embeddings)
        self.head = ChannelHead(n_channels, n_tokens, d_model, n_classes, dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, n_channels * d_model * all patches)``."""
        branches = zip(self.embeddings, self.encoders, strict=True)
        parts = [self.head.features(per_channel(encoder, embed(x))) for embed, encoder in branches]
        return torch.cat(parts, dim=1)
