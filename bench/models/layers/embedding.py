"""Embeddings of a series: tokens of neighbouring steps, and the fixed sinusoidal table.

Source: DL4mHealth/Medformer at 446275f, ``layers/Embed.py``.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.dropout import Dropout

# The published name of the embedding's tensor -> ours.
SERIES_RENAMES = {r"enc_embedding\.value_embedding\.tokenConv\.weight": "embedding.token.weight"}


def sinusoidal_table(n_tokens: int, d_model: int) -> Tensor:
    """Return the fixed positional table ``(n_tokens, d_model)``: sines in even columns, cosines in odd ones.

    Computed in float32 as the published code does.

    Raises
    ------
    UsageError
        ``d_model`` is odd.
    """
    if d_model % 2:
        raise UsageError(f"d_model must be even for the sinusoidal table, got d_model={d_model}")
    position = torch.arange(n_tokens, dtype=torch.float32).unsqueeze(1)
    rate = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float32) * -(math.log(10000.0) / d_model))
    return torch.stack([torch.sin(position * rate), torch.cos(position * rate)], dim=-1).flatten(1)


class TokenEmbedding(nn.Module):
    """Map ``(batch, n_times, n_channels)`` to ``(batch, n_times, d_model)`` from each step and its neighbours.

    A convolution over time with kernel 3 and circular padding, without bias.
    """

    def __init__(self, n_channels: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_model, n_channels, 3))
        nn.init.normal_(self.weight, std=math.sqrt(2.0 / (3 * n_channels)))

    def forward(self, x: Tensor) -> Tensor:
        """Embed a series."""
        padded = F.pad(x.transpose(1, 2), (1, 1), mode="circular")
        return F.conv1d(padded, self.weight).transpose(1, 2)


class SeriesEmbedding(nn.Module):
    """Token embedding plus, unless left out, the sinusoidal table; then dropout."""

    position: Tensor | None

    def __init__(
        self, n_channels: int, n_times: int, d_model: int, dropout: float, *, positional: bool = True
    ) -> None:
        super().__init__()
        self.token = TokenEmbedding(n_channels, d_model)
        table = sinusoidal_table(n_times, d_model) if positional else None
        self.register_buffer("position", table, persistent=False)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, n_channels)`` to ``(batch, n_times, d_model)``."""
        tokens = self.token(x)
        if self.position is not None:
            tokens = tokens + self.position
        return self.dropout(tokens)
