"""Crossformer: segments of each channel are tokens; attention over time, then over channels through a few routers.

Source: Zhang and Yan, "Crossformer" (ICLR 2023), as adapted to classification in DL4mHealth/Medformer at 446275f,
``models/Crossformer.py``.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.attention import Attention, FullAttention
from bench.models.layers.classifier import Classifier
from bench.models.layers.dropout import Dropout
from bench.models.layers.head import HEAD_RENAMES, ChannelHead
from bench.models.layers.patching import PatchEmbedding, per_channel
from bench.models.reference_weights import ReferenceNames

REVISION = 2

SEGMENT_LENGTH = 12
"""Steps of a segment; fixed in the published code."""

_LAYER = r"encoder\.encode_blocks\.(\d+)\.encode_layers\.0"
REFERENCE = ReferenceNames(
    renames={
        r"enc_value_embedding\.value_embedding\.weight": "embedding.segments.value.weight",
        r"enc_pos_embedding": "embedding.position",
        r"pre_norm\.(weight|bias)": r"embedding.norm.\1",
        r"encoder\.encode_blocks\.(\d+)\.merge_layer\.norm\.(weight|bias)": r"merges.\1.norm.\2",
        r"encoder\.encode_blocks\.(\d+)\.merge_layer\.linear_trans\.(weight|bias)": r"merges.\1.linear.\2",
        _LAYER + r"\.router": r"layers.\1.router",
        _LAYER
        + r"\.time_attention\.(query|key|value|out)_projection\.(weight|bias)": r"layers.\1.time.\2.\3",
        _LAYER + r"\.dim_sender\.(query|key|value|out)_projection\.(weight|bias)": r"layers.\1.sender.\2.\3",
        _LAYER
        + r"\.dim_receiver\.(query|key|value|out)_projection\.(weight|bias)": r"layers.\1.receiver.\2.\3",
        _LAYER + r"\.(norm[1-4])\.(weight|bias)": r"layers.\1.\2.\3",
        _LAYER + r"\.MLP([12])\.0\.(weight|bias)": r"layers.\1.feed_forward\2.up.\3",
        _LAYER + r"\.MLP([12])\.2\.(weight|bias)": r"layers.\1.feed_forward\2.down.\3",
        **HEAD_RENAMES,
    },
    unused=(r"dec_pos_embedding", r"decoder\..*"),
)


class Crossformer(Classifier):
    """Classify ``(batch, n_times, n_channels)`` by two-stage attention; segments are merged in pairs between layers."""

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
        attention: str = "auto",
    ) -> None:
        super().__init__()
        if n_layers < 1 or factor < 1:
            raise UsageError(f"n_layers and factor must be at least 1, got {n_layers} and {factor}")
        self.embedding = SegmentEmbedding(n_channels, n_times, d_model)
        n_segments = [self.embedding.segments.n_patches]
        for _ in range(n_layers - 1):
            n_segments.append(-(-n_segments[-1] // 2))

        def make_attention() -> Attention:
            return Attention(d_model, n_heads, FullAttention(dropout, attention))

        self.merges = nn.ModuleList([nn.Identity(), *(SegmentMerging(d_model) for _ in n_segments[1:])])
        self.layers = nn.ModuleList(
            TwoStageLayer(make_attention, torch.randn(n, factor, d_model), d_ff, dropout) for n in n_segments
        )
        self.head = ChannelHead(n_channels, n_segments[-1], d_model, n_classes, dropout)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, n_channels * d_model * segments of the last layer)``."""
        tokens = self.embedding(x)
        for merge, layer in zip(self.merges, self.layers, strict=True):
            tokens = layer(merge(tokens))
        return self.head.features(tokens)


class SegmentEmbedding(nn.Module):
    """Embedded segments plus a learned table, normalised; the series' end is padded to whole segments."""

    def __init__(self, n_channels: int, n_times: int, d_model: int) -> None:
        super().__init__()
        self.segments = PatchEmbedding(
            n_times,
            d_model,
            0.0,
            patch_len=SEGMENT_LENGTH,
            stride=SEGMENT_LENGTH,
            padding=-n_times % SEGMENT_LENGTH,
        )
        self.position = nn.Parameter(torch.randn(1, n_channels, self.segments.n_patches, d_model))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, n_channels)`` to ``(batch, n_channels, segments, d_model)``."""
        return self.norm(self.segments(x) + self.position)


class SegmentMerging(nn.Module):
    """Join neighbouring segments in pairs, the last one with itself where their number is odd."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(2 * d_model)
        self.linear = nn.Linear(2 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_channels, segments, d_model)`` to half as many segments, rounded up."""
        if x.size(2) % 2:
            x = torch.cat([x, x[:, :, -1:]], dim=2)
        return self.linear(self.norm(rearrange(x, "b c (s two) d -> b c s (two d)", two=2)))


class TwoStageLayer(nn.Module):
    """Attention over the segments of a channel, then over the channels of a segment by way of routers.

    ``router`` is the initial value ``(segments, factor, d_model)`` of the learned routers: they gather from all
    channels and the channels read from them.
    """

    def __init__(
        self, make_attention: Callable[[], Attention], router: Tensor, d_ff: int, dropout: float
    ) -> None:
        super().__init__()
        d_model = router.size(-1)
        self.router = nn.Parameter(router)
        self.time = make_attention()
        self.sender = make_attention()
        self.receiver = make_attention()
        self.feed_forward1 = SegmentFeedForward(d_model, d_ff)
        self.feed_forward2 = SegmentFeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.norm4 = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_channels, segments, d_model)`` to the same shape."""
        x = self.norm1(x + self.dropout(per_channel(self._over_time, x)))
        x = self.norm2(x + self.dropout(self.feed_forward1(x)))
        x = self.norm3(x + self.dropout(self._over_channels(x)))
        return self.norm4(x + self.dropout(self.feed_forward2(x)))

    def _over_time(self, segments: Tensor) -> Tensor:
        return self.time(segments, segments, segments)

    def _over_channels(self, x: Tensor) -> Tensor:
        batch = x.size(0)
        channels = rearrange(x, "b c s d -> (b s) c d")
        routers = self.router.repeat(batch, 1, 1)  # (batch * segments, factor, d_model)
        gathered = self.sender(routers, channels, channels)
        received = self.receiver(channels, gathered, gathered)
        return rearrange(received, "(b s) c d -> b c s d", b=batch)


class SegmentFeedForward(nn.Module):
    """Two linear maps with an exact GELU between them; unlike the encoders' one without dropout inside."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(..., d_model)`` to ``(..., d_model)``."""
        return self.down(F.gelu(self.up(x)))
