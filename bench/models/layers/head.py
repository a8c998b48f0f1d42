"""The classifier that most transformers share: GELU, dropout, all tokens flattened, one linear map."""

import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from bench.models.layers.dropout import Dropout

HEAD_RENAMES = {r"projection\.(weight|bias)": r"head.projection.\1"}


class TokenHead(nn.Module):
    """Classify from all tokens, token-major: the first token's features come first."""

    def __init__(self, n_tokens: int, d_model: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.projection = nn.Linear(n_tokens * d_model, n_classes)

    def features(self, tokens: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to the vector before the classifier ``(batch, tokens * d_model)``."""
        return self.dropout(F.gelu(tokens)).flatten(1)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to logits ``(batch, n_classes)``."""
        return self.projection(self.features(tokens))


class ChannelHead(nn.Module):
    """Classify from the tokens of every channel, without GELU, channel-major: then by feature, then by token."""

    def __init__(self, n_channels: int, n_tokens: int, d_model: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.projection = nn.Linear(n_channels * n_tokens * d_model, n_classes)

    def features(self, tokens: Tensor) -> Tensor:
        """Map ``(batch, n_channels, tokens, d_model)`` to a part of the vector before the classifier.

        Several encoders' parts are joined by the caller; ``n_tokens`` of the constructor counts them all.
        """
        return rearrange(self.dropout(tokens), "b c t d -> b (c d t)")
