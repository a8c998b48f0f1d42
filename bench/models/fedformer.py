"""FEDformer, Fourier version: layers filter a few randomly chosen frequencies of the series and drop the others.

Source: Zhou et al., "FEDformer" (ICML 2022), as adapted to classification in DL4mHealth/Medformer at 446275f,
``models/FEDformer.py`` and ``layers/FourierCorrelation.py``.
"""

import torch
from einops import rearrange
from torch import Tensor, nn

from bench.errors import UsageError
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
        r"encoder\.attn_layers\.\d+\.attention\.inner_correlation\.(weights[12])": r"\1",
        # Not in a published checkpoint, which works only with the frequencies it was trained with: who knows
        # them adds them under this name.
        r"mode_index": "mode_index",
        **DECOMPOSITION_RENAMES,
        **ENCODER_RENAMES,
        **HEAD_RENAMES,
    },
    unused=(
        r"encoder\.attn_layers\.\d+\.attention\.(key|value)_projection\.(weight|bias)",
        r"dec_embedding\..*",
        r"decoder\..*",
    ),
    ours_only=("mode_index",),
)


class FEDformer(Classifier):
    """Classify ``(batch, n_times, n_channels)`` by filters in the frequency domain and series decomposition.

    All layers share one filter, ``weights1 + i weights2``, and the frequencies in the buffer ``mode_index``, which are
    drawn at construction from torch's default generator, as the initial weights are.
    """

    mode_index: Tensor

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
        moving_avg: int = 25,
        modes: int = 32,
    ) -> None:
        super().__init__()
        if d_model % n_heads:
            raise UsageError(
                f"d_model must be a multiple of n_heads, got d_model={d_model}, n_heads={n_heads}"
            )
        self.register_buffer("mode_index", draw_modes(n_times, modes))
        width = d_model // n_heads
        self.weights1, self.weights2 = (
            nn.Parameter(torch.rand(n_heads, width, width, len(self.mode_index)) / d_model**2)
            for _ in range(2)
        )
        self.embedding = SeriesEmbedding(n_channels, n_times, d_model, dropout)
        self.encoder = DecompositionEncoder(
            lambda: FourierAttention(d_model, n_heads), n_layers, d_model, d_ff, dropout, moving_avg
        )
        self.head = TokenHead(n_times, d_model, n_classes, dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, n_times * d_model)``."""
        kernel = torch.complex(at_least_float32(self.weights1), at_least_float32(self.weights2))
        return self.head.features(self.encoder(self.embedding(x), kernel, self.mode_index))


def draw_modes(n_times: int, modes: int) -> Tensor:
    """Draw ``modes`` of the frequencies below the Nyquist frequency, all if there are fewer, in ascending order.

    Raises
    ------
    UsageError
        There is no frequency to draw, or none is wanted.
    """
    candidates = n_times // 2
    if candidates < 1 or modes < 1:
        raise UsageError(
            f"fedformer filters min(modes, n_times // 2) frequencies, got modes={modes}, n_times={n_times}; "
            "take at least 1 mode and 2 steps"
        )
    return torch.randperm(candidates)[:modes].sort().values


class FourierAttention(nn.Module):
    """Project, filter each head's spectrum, project; keys and values take no part."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(
        self, queries: Tensor, _keys: Tensor, _values: Tensor, kernel: Tensor, mode_index: Tensor
    ) -> Tensor:
        """Map ``(batch, n_times, d_model)`` to the same shape."""
        q = rearrange(self.query(queries), "b t (h e) -> b h e t", h=self.n_heads)
        # Kept from the published code: read as (batch, n_times, d_model) without moving the axes back.
        return self.out(filter_spectrum(q, kernel, mode_index).reshape(queries.shape).to(q.dtype))


def filter_spectrum(series: Tensor, kernel: Tensor, mode_index: Tensor) -> Tensor:
    """Filter the chosen frequencies of ``(batch, heads, width, n_times)`` and return a series of the same shape.

    ``kernel`` is ``(heads, width in, width out, modes)``, complex. Kept from the published code: the result of the
    w-th chosen frequency becomes the series' frequency w, not the one it came from; all others are zero.
    """
    n_times = series.shape[-1]
    spectrum = torch.fft.rfft(at_least_float32(series), dim=-1)[..., mode_index]
    filtered = torch.einsum("bhiw,hiow->bhow", spectrum, kernel)
    return torch.fft.irfft(filtered, n=n_times, dim=-1)
