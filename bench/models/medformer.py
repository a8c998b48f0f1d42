"""Medformer, the paper's version: patches of all channels in several lengths, attention within and between lengths.

Source: Wang et al., "Medformer" (NeurIPS 2024); DL4mHealth/Medformer at 446275f, ``models/Medformer.py``.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from bench.models.layers.attention import Attention, FullAttention
from bench.models.layers.augmentation import RandomAugmentation
from bench.models.layers.classifier import Classifier
from bench.models.layers.encoder import Encoder
from bench.models.layers.granularity import GRANULARITY_RENAMES, Granularities, GranularityAttention
from bench.models.layers.head import HEAD_RENAMES, TokenHead
from bench.models.reference_weights import ReferenceNames

REVISION = 2

REFERENCE = ReferenceNames(renames={**GRANULARITY_RENAMES, **HEAD_RENAMES})

AUGMENTATION_NAMES = ("none", "drop", "jitter", "scale", "flip", "shuffle", "frequency", "mask")


class Medformer(Classifier):
    """Classify ``(batch, n_times, n_channels)`` from all granularities' tokens; patch embeddings are augmented."""

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
        patch_lengths: Sequence[int] = (2, 4, 8),
        augmentations: Sequence[str] = ("flip", "shuffle", "frequency", "jitter", "mask", "drop"),
        attention: str = "auto",
    ) -> None:
        super().__init__()
        self.draws = torch.Generator().manual_seed(0)
        self.augment = RandomAugmentation(augmentations, AUGMENTATION_NAMES, self.draws)
        self.embedding = Granularities(n_channels, n_times, d_model, patch_lengths)
        lengths = self.embedding.lengths

        def make_attention() -> Attention:
            return Attention(d_model, n_heads, FullAttention(dropout, attention))

        self.encoder = Encoder(
            lambda: GranularityAttention(make_attention, lengths), n_layers, d_model, d_ff, dropout
        )
        self.head = TokenHead(sum(lengths), d_model, n_classes, dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, tokens of all granularities * d_model)``."""
        series = x.transpose(1, 2)
        tokens = [self.augment(patches(series)) for patches in self.embedding.patches]
        return self.head.features(self.encoder(self.embedding(tokens)))
