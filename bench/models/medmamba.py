"""MedMamba: patches at several strides, a stack of bidirectional state space blocks for each, attentive pooling.

Source: He et al., "MedMamba: Recasting Mamba for Medical Time Series Classification", section on the method;
miraclehetech/MedMamba at 5f13ea1. Where text and code differ, this is the code.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.dropout import Dropout
from bench.models.layers.mamba_block import Mamba, MambaSettings, Merge
from bench.models.reference_weights import ReferenceNames
from bench.scan import choose_backend

REVISION = 2

_BLOCK = r"scale_layers\.(\d+)\.(\d+)\."
_OUR_BLOCK = r"scales.\1.blocks.\2."

REFERENCE = ReferenceNames(
    renames={
        r"channel_mix\.norm\.(weight|bias)": r"channel_mixing.norm.\1",
        r"channel_mix\.net\.0\.(weight|bias)": r"channel_mixing.up.\1",
        r"channel_mix\.net\.3\.(weight|bias)": r"channel_mixing.down.\1",
        r"multi_res_embed\.multi_res\.(\d+)\.(weight|bias)": r"scales.\1.embedding.\2",
        r"multi_res_embed\.norms\.(\d+)\.(\w+)": r"scales.\1.embedding.norm.\2",
        r"pos_embeds\.(\d+)": r"scales.\1.position",
        _BLOCK + r"0\.norm\.(weight|bias)": _OUR_BLOCK + r"mamba.norm.\3",
        _BLOCK + r"0\.core\.x_proj_weight": _OUR_BLOCK + "mamba.inner.x_proj",
        _BLOCK + r"0\.core\.dt_projs_weight": _OUR_BLOCK + "mamba.inner.dt_proj",
        _BLOCK + r"0\.core\.dt_projs_bias": _OUR_BLOCK + "mamba.inner.dt_bias",
        _BLOCK + r"0\.core\.A_logs": _OUR_BLOCK + "mamba.inner.A_logs",
        _BLOCK + r"0\.core\.Ds": _OUR_BLOCK + "mamba.inner.D",
        _BLOCK + r"0\.core\.conv1d\.(weight|bias)": _OUR_BLOCK + r"mamba.inner.conv.\3",
        _BLOCK + r"0\.core\.(\w+)\.(weight|bias)": _OUR_BLOCK + r"mamba.inner.\3.\4",
        _BLOCK + r"1\.(weight|bias)": _OUR_BLOCK + r"feed_forward.norm.\3",
        _BLOCK + r"2\.w_gate\.weight": _OUR_BLOCK + "feed_forward.inner.gate_up.weight@0",
        _BLOCK + r"2\.w_up\.weight": _OUR_BLOCK + "feed_forward.inner.gate_up.weight@1",
        _BLOCK + r"2\.w_down\.weight": _OUR_BLOCK + "feed_forward.inner.down.weight",
        r"final_norms\.(\d+)\.(weight|bias)": r"scales.\1.norm.\2",
        r"pools\.(\d+)\.attn\.0\.(weight|bias)": r"scales.\1.pool.hidden.\2",
        r"pools\.(\d+)\.attn\.2\.(weight|bias)": r"scales.\1.pool.score.\2",
        r"fusion\.0\.(weight|bias)": r"fusion.norm.\1",
        r"fusion\.1\.(weight|bias)": r"fusion.linear.\1",
        r"head\.0\.(weight|bias)": r"head.norm.\1",
        r"head\.1\.(weight|bias)": r"head.projection.\1",
    }
)


class MedMamba(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` by state space blocks at several time scales.

    Parameters
    ----------
    n_channels, n_times, n_classes
        Shape of the task.
    d_model, n_layers
        Width of the tokens, blocks of each scale.
    strides
        Length of a patch at each scale, in time steps; a remainder at the end is dropped.
    dropout, drop_path, channel_dropout
        Rates of ordinary dropout, of leaving out a block's branch (at the last layer, rising from zero), and of
        leaving out a whole input channel.
    channel_mixing
        Mix the channels of each step before anything else.
    bidirectional, merge, expand, d_state, scan
        See :class:`bench.models.layers.mamba_block.MambaSettings`.
    """

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        d_model: int = 128,
        n_layers: int = 4,
        strides: Sequence[int] = (5, 10, 25),
        dropout: float = 0.1,
        drop_path: float = 0.1,
        channel_dropout: float = 0.1,
        channel_mixing: bool = True,
        bidirectional: bool = True,
        merge: Merge = "concat",
        expand: int = 2,
        d_state: int = 16,
        scan: str = "auto",
    ) -> None:
        super().__init__()
        _check_strides(strides, n_times)
        settings = MambaSettings(
            expand=expand, d_state=d_state, bidirectional=bidirectional, merge=merge, scan=scan
        )
        self.scan = scan
        self.reference_unused = () if bidirectional else (r".*\.core\.merge_proj\.weight",)
        self.channel_dropout = DropAlong(channel_dropout, kept_axis=2)
        self.channel_mixing = ChannelMixing(n_channels, dropout) if channel_mixing else nn.Identity()
        self.scales = nn.ModuleList(
            Scale(
                PatchEmbedding(n_channels, d_model, stride),
                [
                    Block(d_model, dropout, drop_path * layer / max(n_layers - 1, 1), settings)
                    for layer in range(n_layers)
                ],
                n_tokens=n_times // stride,
                d_model=d_model,
                dropout=dropout,
            )
            for stride in strides
        )
        self.fusion = Fusion(len(strides) * d_model, d_model, dropout)
        self.head = Head(d_model, n_classes)

    @property
    def scan_backend(self) -> str:
        """Name of the backend that scans run on where the weights are."""
        return choose_backend(self.scan, self.head.projection.weight.device)

    def no_weight_decay(self) -> set[str]:
        """Return the names of the parameters that weight decay must leave alone."""
        return {name for name, _ in self.named_parameters() if name.endswith((".A_logs", ".D"))}

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, d_model)``."""
        x = self.channel_mixing(self.channel_dropout(x))
        return self.head.norm(self.fusion(torch.cat([scale(x) for scale in self.scales], dim=-1)))

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.head.projection(self.features(x))


def _check_strides(strides: Sequence[int], n_times: int) -> None:
    if not strides or min(strides) < 1 or max(strides) > n_times:
        raise UsageError(f"strides must be between 1 and n_times={n_times}, got strides={list(strides)}")


class DropAlong(nn.Module):
    """Leave out whole slices of ``(batch, a, b)`` while training, independently per sample; rescale the rest.

    One draw per sample, or per sample and entry of ``kept_axis``.
    """

    def __init__(self, rate: float, kept_axis: int | None = None) -> None:
        super().__init__()
        self.rate = rate
        self.kept_axis = kept_axis

    def forward(self, x: Tensor) -> Tensor:
        """Map a tensor of three axes to the same shape."""
        if not self.training or self.rate == 0.0:
            return x
        shape = [size if axis in (0, self.kept_axis) else 1 for axis, size in enumerate(x.shape)]
        return x * F.dropout(x.new_ones(shape), self.rate)


class ChannelMixing(nn.Module):
    """Add to each step ``(batch, n_times, n_channels)`` a two-layer map of its normalised channels."""

    def __init__(self, n_channels: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(n_channels)
        self.up = nn.Linear(n_channels, 2 * n_channels)
        self.down = nn.Linear(2 * n_channels, n_channels)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, n_channels)`` to the same shape."""
        return x + self.dropout(self.down(self.dropout(F.gelu(self.up(self.norm(x))))))


class Scale(nn.Module):
    """One time scale: patches, position, blocks, normalisation, pooling."""

    def __init__(
        self,
        embedding: nn.Module,
        blocks: Sequence[nn.Module],
        *,
        n_tokens: int,
        d_model: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.position = nn.Parameter(nn.init.normal_(torch.empty(1, n_tokens, d_model), std=0.02))
        self.dropout = Dropout(dropout)
        self.blocks = nn.Sequential(*blocks)
        self.norm = nn.LayerNorm(d_model)
        self.pool = AttentivePooling(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, n_channels)`` to ``(batch, d_model)``."""
        tokens = self.dropout(self.embedding(x) + self.position)
        return self.pool(self.norm(self.blocks(tokens)))


class PatchEmbedding(nn.Module):
    """Map each patch of ``stride`` steps, all channels, to a token; batch norm, GELU.

    A convolution whose kernel and stride are equal, written as the linear map that it is.
    """

    def __init__(self, n_channels: int, d_model: int, stride: int) -> None:
        super().__init__()
        like = nn.Conv1d(n_channels, d_model, stride)  # its initialisation and shape of the weight
        assert like.bias is not None
        self.stride = stride
        self.weight, self.bias = like.weight, like.bias
        self.norm = nn.BatchNorm1d(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, n_channels)`` to ``(batch, tokens, d_model)``."""
        n_tokens = x.shape[1] // self.stride
        patches = rearrange(x[:, : n_tokens * self.stride], "b (t s) c -> (b t) (s c)", s=self.stride)
        tokens = F.linear(patches, rearrange(self.weight, "d c s -> d (s c)"), self.bias)
        return F.gelu(self.norm(tokens)).unflatten(0, (-1, n_tokens))


class Block(nn.Module):
    """A state space layer, then a gated feed-forward map."""

    def __init__(self, d_model: int, dropout: float, drop_path: float, settings: MambaSettings) -> None:
        super().__init__()
        self.mamba = Branch(Mamba(d_model, dropout, settings), d_model, drop_path)
        self.feed_forward = Branch(GatedFeedForward(d_model, dropout), d_model, drop_path)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to the same shape."""
        return self.feed_forward(self.mamba(x))


class Branch(nn.Module):
    """Add to the input what an inner module makes of it, normalised before; now and then leave that out."""

    def __init__(self, inner: nn.Module, d_model: int, drop_path: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.inner = inner
        self.drop_path = DropAlong(drop_path)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to the same shape."""
        return x + self.drop_path(self.inner(self.norm(x)))


class GatedFeedForward(nn.Module):
    """Four times wider and back, one half gating the other through SiLU; no biases."""

    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.gate_up = nn.Linear(d_model, 2 * 4 * d_model, bias=False)
        self.down = nn.Linear(4 * d_model, d_model, bias=False)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(..., d_model)`` to the same shape."""
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.dropout(self.down(F.silu(gate) * up))


class AttentivePooling(nn.Module):
    """Average the tokens with weights from a small network, softmax over tokens."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(d_model, d_model // 4)
        self.score = nn.Linear(d_model // 4, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to ``(batch, d_model)``."""
        weight = torch.softmax(self.score(torch.tanh(self.hidden(tokens))), dim=1)
        return (weight * tokens).sum(1)


class Fusion(nn.Module):
    """Map the joined scales to one vector."""

    def __init__(self, d_joined: int, d_model: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_joined)
        self.linear = nn.Linear(d_joined, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, joined: Tensor) -> Tensor:
        """Map ``(batch, scales * d_model)`` to ``(batch, d_model)``."""
        return self.dropout(F.gelu(self.linear(self.norm(joined))))


class Head(nn.Module):
    """The classifier and the normalisation before it."""

    def __init__(self, d_model: int, n_classes: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.projection = nn.Linear(d_model, n_classes)
