"""The encoder of Autoformer and FEDformer: after each step a moving average is taken away, instead of a normalisation.

Source: Wu et al., "Autoformer" (NeurIPS 2021), section 3.1, as in DL4mHealth/Medformer at 446275f,
``layers/Autoformer_EncDec.py``. The trends that are taken away serve forecasting and are dropped here.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.dropout import Dropout
from bench.models.layers.encoder import FeedForward, LayerStack


class RemoveTrend(nn.Module):
    """Subtract the centred moving average over ``window`` steps; both ends repeat their last step."""

    def __init__(self, window: int) -> None:
        super().__init__()
        if window < 1 or window % 2 == 0:
            raise UsageError(
                f"moving_avg must be odd and at least 1, got {window}; take {max(window // 2, 0) * 2 + 1}"
            )
        self.window = window

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, d_model)`` to the same shape."""
        margin = self.window // 2
        padded = F.pad(x.transpose(1, 2), (margin, margin), mode="replicate")
        # Features side by side are added up together: the same sums in two thirds of the time.
        rows = padded.unsqueeze(2).contiguous(memory_format=torch.channels_last)
        return x - F.avg_pool2d(rows, (1, self.window), stride=1).squeeze(2).transpose(1, 2)


class DecompositionLayer(nn.Module):
    """Attention and feed-forward (without biases), each added to its input and then freed of its trend."""

    def __init__(
        self, attention: nn.Module, d_model: int, d_ff: int, dropout: float, moving_avg: int
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = FeedForward(d_model, d_ff, dropout, bias=False)
        self.remove_trend = RemoveTrend(moving_avg)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, *context: Tensor) -> Tensor:
        """Map ``(batch, n_times, d_model)`` to the same shape; the attention gets the context."""
        x = self.remove_trend(x + self.dropout(self.attention(x, x, x, *context)))
        return self.remove_trend(x + self.feed_forward(x))


class SeasonalNorm(nn.LayerNorm):
    """Layer normalisation, then each feature's mean over time is subtracted."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - the name of the base class
        """Map ``(batch, n_times, d_model)`` to the same shape."""
        normalised = super().forward(input)
        return normalised - normalised.mean(dim=1, keepdim=True)


class DecompositionEncoder(LayerStack):
    """A stack of decomposition layers, each with an attention of its own, and a seasonal normalisation at the end."""

    def __init__(
        self,
        make_attention: Callable[[], nn.Module],
        n_layers: int,
        d_model: int,
        d_ff: int,
        dropout: float,
        moving_avg: int,
    ) -> None:
        layers = (
            DecompositionLayer(make_attention(), d_model, d_ff, dropout, moving_avg) for _ in range(n_layers)
        )
        super().__init__(layers, SeasonalNorm(d_model))


# Published names of these tensors -> ours; the projections of the attention are the models' own.
DECOMPOSITION_RENAMES = {
    r"encoder\.attn_layers\.(\d+)\.conv1\.weight": r"encoder.layers.\1.feed_forward.up.weight",
    r"encoder\.attn_layers\.(\d+)\.conv2\.weight": r"encoder.layers.\1.feed_forward.down.weight",
    r"encoder\.norm\.layernorm\.(weight|bias)": r"encoder.norm.\1",
}
