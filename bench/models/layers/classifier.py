"""What the transformers have in common: an embedding, an encoder, and a head whose last map gives the logits."""

from typing import Any

from torch import Tensor, nn

from bench.attention import CHOICE
from bench.models.layers.attention import FullAttention


class Classifier(nn.Module):
    """Classify ``(batch, n_times, n_channels)``; the constructor of a model sets the three parts.

    ``embedding`` makes tokens of a series, ``encoder`` maps tokens to tokens, and ``head`` has ``features`` of the
    tokens and a linear ``projection`` of these.
    """

    embedding: Any
    encoder: Any
    head: Any

    @property
    def attention_backend(self) -> str | None:
        """Name of the backend that full attention runs on where the weights are; None where there is no such layer."""
        settings = (module.backend for module in self.modules() if isinstance(module, FullAttention))
        setting = next(settings, None)
        return None if setting is None else CHOICE.choose(setting, self.head.projection.weight.device)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, width)``."""
        return self.head.features(self.encoder(self.embedding(x)))

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.head.projection(self.features(x))
