"""PatchTST: overlapping patches of each channel are tokens, channels are encoded independently.

Source: Nie et al., "A Time Series is Worth 64 Words" (ICLR 2023), as adapted to classification in DL4mHealth/Medformer
at 446275f, ``models/PatchTST.py``.
"""

from torch import Tensor

from bench.models.layers.attention import Attention, FullAttention
from bench.models.layers.classifier import Classifier
from bench.models.layers.encoder import ENCODER_RENAMES, Encoder
from bench.models.layers.head import HEAD_RENAMES, ChannelHead
from bench.models.layers.patching import PatchEmbedding, per_channel
from bench.models.reference_weights import ReferenceNames

REVISION = 2

REFERENCE = ReferenceNames(
    renames={
        r"patch_embedding\.value_embedding\.weight": "embedding.value.weight",
        **ENCODER_RENAMES,
        **HEAD_RENAMES,
    }
)


class PatchTST(Classifier):
    """Classify ``(batch, n_times, n_channels)`` by full attention between the patches of a channel."""

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
        patch_len: int = 16,
        stride: int = 8,
        attention: str = "auto",
    ) -> None:
        super().__init__()
        self.embedding = PatchEmbedding(
            n_times, d_model, dropout, patch_len=patch_len, stride=stride, padding=stride
        )
        self.encoder = Encoder(
            lambda: Attention(d_model, n_heads, FullAttention(dropout, attention)),
            n_layers,
            d_model,
            d_ff,
            dropout,
        )
        self.head = ChannelHead(n_channels, self.embedding.n_patches, d_model, n_classes, dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, n_channels * d_model * n_patches)``."""
        tokens = self.embedding(normalise_instance(x))
        return self.head.features(per_channel(self.encoder, tokens))


def normalise_instance(x: Tensor) -> Tensor:
    """Scale each window's channels to mean 0 and deviation 1 over time; the mean is a constant to the gradient."""
    centred = x - x.mean(1, keepdim=True).detach()
    return centred / (centred.var(1, keepdim=True, correction=0) + 1e-5).sqrt()
