"""Transformer: every time step is a token, full attention, post-norm encoder.

Source: Vaswani et al., "Attention Is All You Need" (NeurIPS 2017), as adapted to classification in
DL4mHealth/Medformer at 446275f, ``models/Transformer.py``.
"""

from bench.models.layers.attention import Attention, FullAttention
from bench.models.layers.classifier import Classifier
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
    }
)


class Transformer(Classifier):
    """Classify ``(batch, n_times, n_channels)`` by full attention between time steps."""

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
        self.embedding = SeriesEmbedding(n_channels, n_times, d_model, dropout)
        self.encoder = Encoder(
            lambda: Attention(d_model, n_heads, FullAttention(dropout, attention)),
            n_layers,
            d_model,
            d_ff,
            dropout,
        )
        self.head = TokenHead(n_times, d_model, n_classes, dropout)
