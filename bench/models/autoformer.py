"""Autoformer: layers mix shifted copies of the series, by the delays at which it resembles itself.

Source: Wu et al., "Autoformer" (NeurIPS 2021), as adapted to classification in DL4mHealth/Medformer at 446275f,
``models/Autoformer.py`` and ``layers/AutoCorrelation.py``.
"""

import math

import torch
from einops import rearrange
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.attention import Attention
from bench.models.layers.classifier import Classifier
from bench.models.layers.decomposition import DECOMPOSITION_RENAMES, DecompositionEncoder
from bench.models.layers.embedding import SERIES_RENAMES, SeriesEmbedding
from bench.models.layers.encoder import ENCODER_RENAMES
from bench.models.layers.head import HEAD_RENAMES, TokenHead
from bench.models.layers.precision import at_least_float32
from bench.models.reference_weights import ReferenceNames

REVISION = 2

REFERENCE = ReferenceNames(
    renames={
        **SERIES_RENAMES,
        **DECOMPOSITION_RENAMES,
        **ENCODER_RENAMES,
        **HEAD_RENAMES,
    }
)


class Autoformer(Classifier):
    """Classify ``(batch, n_times, n_channels)`` by auto-correlation and series decomposition."""

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
        factor: int = 1,
        moving_avg: int = 25,
    ) -> None:
        super().__init__()
        n_delays = count_delays(n_times, factor)
        self.embedding = SeriesEmbedding(n_channels, n_times, d_model, dropout, positional=False)
        self.encoder = DecompositionEncoder(
            lambda: Attention(d_model, n_heads, AutoCorrelation(n_delays)),
            n_layers,
            d_model,
            d_ff,
            dropout,
            moving_avg,
        )
        self.head = TokenHead(n_times, d_model, n_classes, dropout)


def count_delays(n_times: int, factor: int) -> int:
    """Return the number of delays that a layer mixes, ``factor * ln(n_times)`` rounded down.

    Raises
    ------
    UsageError
        No delay would be left, or more than the series has.
    """
    count, lags = int(factor * math.log(n_times)), n_times // 2 * 2
    if not 1 <= count <= lags:
        raise UsageError(
            f"autoformer mixes floor(factor * ln(n_times)) delays, which must lie between 1 and {lags}: "
            f"factor={factor} and n_times={n_times} give {count}; "
            + ("take a longer series or a larger factor" if count < 1 else "take a smaller factor")
        )
    return count


class AutoCorrelation(nn.Module):
    """Mix ``n_delays`` shifted copies of the values, weighted by the correlation of queries and keys.

    In evaluation every sample takes its own best delays; in training the batch shares those that are best on
    average, so that training depends on how a batch is divided. Weights are each sample's own in both.
    """

    def __init__(self, n_delays: int) -> None:
        super().__init__()
        self.n_delays = n_delays

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Map three times ``(batch, heads, n_times, head width)`` to the same shape."""
        correlation = correlate(q, k)
        ranking = correlation.mean(dim=0, keepdim=True) if self.training else correlation
        delays = ranking.topk(self.n_delays, dim=-1).indices
        weights = correlation.gather(1, delays.expand(len(v), -1)).softmax(dim=-1).to(v.dtype)
        return mix_shifted(v, delays, weights)


def correlate(q: Tensor, k: Tensor) -> Tensor:
    """Return the circular correlation of two series at every lag, averaged over heads and features.

    Takes ``(batch, heads, n_times, head width)`` and returns ``(batch, lags)``. An odd ``n_times`` has one lag less
    than steps, as in the published code, whose inverse transform takes no length.
    """
    q, k = (torch.fft.rfft(at_least_float32(tensor), dim=2) for tensor in (q, k))
    # The inverse transform is linear, so the average is taken before it.
    return torch.fft.irfft((q * k.conj()).mean(dim=(1, 3)), dim=-1)


def mix_shifted(v: Tensor, delays: Tensor, weights: Tensor) -> Tensor:
    """Return the sum of ``v`` at ``t + delay``, circularly, over the delays by their weights ``(batch, n_delays)``.

    ``delays`` is ``(batch, n_delays)``, or ``(1, n_delays)`` for all samples.
    """
    steps = torch.arange(v.shape[2], device=v.device)
    rows = rearrange(v, "b h t e -> b t (h e)")
    mixed = torch.zeros_like(rows)
    for delay, weight in zip(delays.unbind(1), weights.unbind(1), strict=True):
        source = (steps + delay.unsqueeze(1)) % len(steps)  # (batch or 1, n_times)
        mixed = mixed + weight[:, None, None] * rows_at(rows, source)
    return rearrange(mixed, "b t (h e) -> b h t e", h=v.shape[1])


def rows_at(rows: Tensor, source: Tensor) -> Tensor:
    """Return ``rows`` ``(batch, n_times, width)`` in the order of ``source``, each sample's own or one for all."""
    if len(source) == 1:
        # Whole rows are copied, forwards and backwards, in half the time of single numbers.
        return rows.index_select(1, source[0])
    return rows.gather(1, source.unsqueeze(-1).expand_as(rows))
