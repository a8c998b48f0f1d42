"""Nonformer (non-stationary Transformer): attention logits rescaled and shifted by factors learnt from the raw series.

Source: Liu et al., "Non-stationary Transformers" (NeurIPS 2022), as adapted to classification in
DL4mHealth/Medformer at 446275f, ``models/Nonstationary_Transformer.py`` and ``layers/SelfAttention_Family.py``.
"""

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bench.models.layers.attention import Attention, FullAttention, attend
from bench.models.layers.classifier import Classifier
from bench.models.layers.embedding import SERIES_RENAMES, SeriesEmbedding
from bench.models.layers.encoder import ENCODER_RENAMES, Encoder
from bench.models.layers.head import HEAD_RENAMES, TokenHead
from bench.models.reference_weights import ReferenceNames

REVISION = 2

REFERENCE = ReferenceNames(
    renames={
        **SERIES_RENAMES,
        r"(tau|delta)_learner\.series_conv\.weight": r"\1_learner.series_conv.weight",
        r"(tau|delta)_learner\.backbone\.(\d+)\.(weight|bias)": r"\1_learner.backbone.\2.\3",
        **ENCODER_RENAMES,
        **HEAD_RENAMES,
    }
)


class Nonformer(Classifier):
    """Classify ``(batch, n_times, n_channels)`` by attention that knows the series' level and spread.

    ``projector_sizes`` are the hidden widths of the two networks that learn the factors.
    """

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
        projector_sizes: Sequence[int] = (128, 128),
        attention: str = "auto",
    ) -> None:
        super().__init__()
        self.tau_learner = Projector(n_channels, n_times, projector_sizes, 1)
        self.delta_learner = Projector(n_channels, n_times, projector_sizes, n_times)
        self.embedding = SeriesEmbedding(n_channels, n_times, d_model, dropout)
        self.encoder = Encoder(
            lambda: Attention(d_model, n_heads, DestationaryAttention(dropout, attention)),
            n_layers,
            d_model,
            d_ff,
            dropout,
        )
        self.head = TokenHead(n_times, d_model, n_classes, dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, n_times * d_model)``."""
        # The series itself is embedded as it is: in classification it is not normalised.
        tau, delta = self.factors(x)
        return self.head.features(self.encoder(self.embedding(x), tau, delta))

    def factors(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scale ``(batch, 1)`` and the shift of each key ``(batch, n_times)``; no gradient reaches ``x``."""
        raw = x.detach()
        level = raw.mean(dim=1, keepdim=True)
        spread = torch.sqrt(raw.var(dim=1, keepdim=True, correction=0) + 1e-5)
        return self.tau_learner(raw, spread).exp(), self.delta_learner(raw, level)


class Projector(nn.Module):
    """Learn a factor from a series and one statistic of each channel.

    A circular convolution along the channels, with the steps as its inputs, sums the series up in one value a
    channel; these and the statistic go through linear maps with ReLU between them, the last one without bias.
    """

    def __init__(self, n_channels: int, n_times: int, hidden: Sequence[int], n_outputs: int) -> None:
        super().__init__()
        self.series_conv = nn.Conv1d(n_times, 1, 3, padding=1, padding_mode="circular", bias=False)
        sizes = [2 * n_channels, *hidden]
        self.backbone = nn.Sequential()
        for n_inputs, size in itertools.pairwise(sizes):
            self.backbone.extend([nn.Linear(n_inputs, size), nn.ReLU()])
        self.backbone.append(nn.Linear(sizes[-1], n_outputs, bias=False))

    def forward(self, x: Tensor, statistic: Tensor) -> Tensor:
        """Map ``(batch, n_times, n_channels)`` and ``(batch, 1, n_channels)`` to ``(batch, n_outputs)``."""
        summary = self.series_conv(x)  # (batch, 1, n_channels)
        return self.backbone(torch.cat([summary, statistic], dim=1).flatten(1))


class DestationaryAttention(FullAttention):
    """Attention with the logits ``(tau q k + delta) / sqrt(width)``.

    The shift rides along as one more feature, ``[tau q, 1] [k, delta]``, so that the shared attention, fused or
    sliced, serves as it is.
    """

    def forward(  # pyright: ignore[reportIncompatibleMethodOverride] - the factors are this one's context
        self, q: Tensor, k: Tensor, v: Tensor, tau: Tensor, delta: Tensor
    ) -> Tensor:
        """Map three times ``(batch, heads, n_times, width)`` to the same shape."""
        one = torch.ones_like(q[..., :1])
        shift = delta[:, None, :, None].to(k.dtype).expand_as(one)
        scaled = q * tau[:, None, None].to(q.dtype)
        return attend(
            torch.cat([scaled, one], dim=-1),
            torch.cat([k, shift], dim=-1),
            v,
            dropout=self.dropout if self.training else 0.0,
            backend=self.backend,
            scale=q.shape[-1] ** -0.5,
        )
