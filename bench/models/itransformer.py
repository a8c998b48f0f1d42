"""iTransformer: every channel's whole series is a token, attention acts between channels.

Source: Liu et al., "iTransformer" (ICLR 2024), as adapted to classification in DL4mHealth/Medformer at 446275f,
``models/iTransformer.py``.
"""

from torch import Tensor, nn

from bench.models.layers.attention import Attention, FullAttention
from bench.models.layers.classifier import Classifier
from bench.models.layers.dropout import Dropout
from bench.models.layers.encoder import ENCODER_RENAMES, Encoder
from bench.models.layers.head import HEAD_RENAMES, TokenHead
from bench.models.reference_weights import ReferenceNames

REVISION = 2

REFERENCE = ReferenceNames(
    renames={
        r"enc_embedding\.value_embedding\.(weight|bias)": r"embedding.series.\1",
        **ENCODER_RENAMES,
        **HEAD_RENAMES,
    }
)


class iTransformer(Classifier):  # noqa: N801 - as published
    """Classify ``(batch, n_times, n_channels)`` by full attention between channels; no positions, no normalisation."""

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
        attention: str = "auto",
    ) -> None:
        super().__init__()
        self.embedding = ChannelEmbedding(n_times, d_model, dropout)
        self.encoder = Encoder(
            lambda: Attention(d_model, n_heads, FullAttention(dropout, attention)),
            n_layers,
            d_model,
            d_ff,
            dropout,
        )
        self.head = TokenHead(n_channels, d_model, n_classes, dropout)


class ChannelEmbedding(nn.Module):
    """Linear map of a channel's whole series, then dropout."""

    def __init__(self, n_times: int, d_model: int, dropout: float) -> None:
        super().__init__()
        self.series = nn.Linear(n_times, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, n_channels)`` to ``(batch, n_channels, d_model)``."""
        return self.dropout(self.series(x.transpose(1, 2)))
