"""The post-norm encoder shared by the transformers.

Source: DL4mHealth/Medformer at 446275f, ``layers/Transformer_EncDec.py``.
"""

from collections.abc import Callable, Iterable

import torch.nn.functional as F
from torch import Tensor, nn

from bench.models.layers.dropout import Dropout


class FeedForward(nn.Module):
    """Two linear maps with an exact GELU between them, dropout after each."""

    def __init__(self, d_model: int, d_ff: int, dropout: float, *, bias: bool = True) -> None:
        super().__init__()
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(..., d_model)`` to ``(..., d_model)``."""
        return self.dropout(self.down(self.dropout(F.gelu(self.up(x)))))


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each added to its input and then normalised."""

    def __init__(self, attention: nn.Module, d_model: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, *context: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to the same shape; the attention takes the context."""
        x = self.norm1(x + self.dropout(self.attention(x, x, x, *context)))
        return self.norm2(x + self.feed_forward(x))


class LayerStack(nn.Module):
    """A stack of layers with one more normalisation at the end.

    Tensors that all layers need in one pass (Nonformer's factors, FEDformer's filter) are handed down as context.
    """

    def __init__(self, layers: Iterable[nn.Module], norm: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def forward(self, x: Tensor, *context: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to the same shape."""
        for layer in self.layers:
            x = layer(x, *context)
        return self.norm(x)


class Encoder(LayerStack):
    """A stack of `EncoderLayer`, each with an attention of its own."""

    def __init__(
        self, make_attention: Callable[[], nn.Module], n_layers: int, d_model: int, d_ff: int, dropout: float
    ) -> None:
        layers = (EncoderLayer(make_attention(), d_model, d_ff, dropout) for _ in range(n_layers))
        super().__init__(layers, nn.LayerNorm(d_model))


# Published names of the attention and encoder tensors -> ours, for the models that use them as they are; one encoder
# ("encoder") or a list of them ("encoders.0").
_ENCODER = r"(encoder|encoders\.\d+)"
ENCODER_RENAMES = {
    _ENCODER + r"\.attn_layers\.(\d+)\.attention\.(query|key|value|out)_projection\.(weight|bias)": (
        r"\1.layers.\2.attention.\3.\4"
    ),
    _ENCODER + r"\.attn_layers\.(\d+)\.conv1\.(weight|bias)": r"\1.layers.\2.feed_forward.up.\3",
    _ENCODER + r"\.attn_layers\.(\d+)\.conv2\.(weight|bias)": r"\1.layers.\2.feed_forward.down.\3",
    _ENCODER + r"\.attn_layers\.(\d+)\.(norm[12])\.(weight|bias)": r"\1.layers.\2.\3.\4",
    _ENCODER + r"\.norm\.(weight|bias)": r"\1.norm.\2",
}
