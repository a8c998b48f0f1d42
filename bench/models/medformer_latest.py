"""Medformer, the repository's later version: channels are tagged, the series is augmented, last tokens are classified.

Source: Wang et al., "Medformer" (NeurIPS 2024); DL4mHealth/Medformer at 891f65b, ``models/Medformer.py``.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from bench.errors import UsageError
from bench.models.layers.attention import Attention, FullAttention
from bench.models.layers.augmentation import RandomAugmentation
from bench.models.layers.classifier import Classifier
from bench.models.layers.embedding import sinusoidal_table
from bench.models.layers.encoder import Encoder
from bench.models.layers.granularity import GRANULARITY_RENAMES, Granularities, GranularityAttention
from bench.models.layers.head import HEAD_RENAMES, TokenHead
from bench.models.reference_weights import ReferenceNames

REVISION = 2

REFERENCE = ReferenceNames(
    renames={**GRANULARITY_RENAMES, **HEAD_RENAMES}, unused=(r"enc_embedding\.channel_embedding\.pe",)
)

AUGMENTATION_NAMES = ("none", "drop", "jitter", "scale", "flip", "frequency", "mask", "channel")

BATTERY_EXCEPTIONS = {
    "check_odd_length": "the channels' sinusoidal table is as wide as the series and needs an even width",
}


class MedformerLatest(Classifier):
    """Classify ``(batch, n_times, n_channels)`` from the last token of every granularity; ``n_times`` must be even."""

    channels: Tensor

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
        augmentations: Sequence[str] = ("flip", "frequency", "jitter", "mask", "channel", "drop"),
        attention: str = "auto",
    ) -> None:
        super().__init__()
        if n_times % 2:
            raise UsageError(
                f"medformer-latest needs an even number of steps, got n_times={n_times};"
                " cut windows of even length or use medformer"
            )
        self.draws = torch.Generator().manual_seed(0)
        self.augment = RandomAugmentation(augmentations, AUGMENTATION_NAMES, self.draws)
        self.register_buffer("channels", sinusoidal_table(n_channels, n_times), persistent=False)
        self.embedding = Granularities(n_channels, n_times, d_model, patch_lengths)
        lengths = self.embedding.lengths

        def make_attention() -> Attention:
            return Attention(d_model, n_heads, FullAttention(dropout, attention))

        self.encoder = Encoder(
            lambda: GranularityAttention(make_attention, lengths), n_layers, d_model, d_ff, dropout
        )
        self.head = TokenHead(len(lengths), d_model, n_classes, dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, granularities * d_model)``."""
        series = x.transpose(1, 2)
        tokens = [patches(self.augment(series) + self.channels) for patches in self.embedding.patches]
        encoded = self.encoder(self.embedding(tokens))
        return self.head.features(encoded[:, self.embedding.last])
