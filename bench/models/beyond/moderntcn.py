"""ModernTCN: long depthwise convolutions over the patches of each channel, then maps of features and of channels.

Source: Luo & Wang, "ModernTCN: A Modern Pure Convolution Structure for General Time Series Analysis" (ICLR 2024), for
classification; luodhhh/ModernTCN at d84ab59, ``ModernTCN-classification/models/ModernTCN.py``. That code can merge a
block's two convolutions after training, which changes no output; here they stay apart.
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from bench.errors import UsageError

REVISION = 1

DOWNSAMPLING = 2


class ModernTCN(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` by convolutions along each channel's patches.

    Parameters
    ----------
    n_channels, n_times, n_classes
        Shape of the task.
    widths, n_blocks, kernel_sizes, small_kernel_size
        Features, blocks and length of the long kernels of each stage, and of the short ones beside them (odd, in
        patches); every stage but the first halves the number of patches.
    patch_len, stride
        Length and distance of patches, in time steps.
    expand
        Inner width of the maps of features and channels, as a multiple.
    dropout, class_dropout
        Rates inside the maps, and before the classifier.
    """

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        widths: Sequence[int] = (256,),
        n_blocks: Sequence[int] = (1,),
        kernel_sizes: Sequence[int] = (31,),
        small_kernel_size: int = 5,
        patch_len: int = 8,
        stride: int = 4,
        expand: int = 1,
        dropout: float = 0.3,
        class_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if stride > min(patch_len, n_times):
            raise UsageError(f"stride={stride} exceeds patch_len={patch_len} or n_times={n_times}; lower it")
        n_tokens = n_times // stride
        self.stages = nn.ModuleList()
        for stage, (width, n, kernel_size) in enumerate(zip(widths, n_blocks, kernel_sizes, strict=True)):
            shorter = Shortening(widths[stage - 1], width) if stage else Patches(width, patch_len, stride)
            kernels = (kernel_size, small_kernel_size)
            blocks = [Block(n_channels, width, kernels, expand, dropout) for _ in range(n)]
            self.stages.append(nn.Sequential(shorter, *blocks))
            n_tokens = math.ceil(n_tokens / DOWNSAMPLING) if stage else n_tokens
        self.dropout = nn.Dropout(class_dropout)
        self.projection = nn.Linear(n_channels * widths[-1] * n_tokens, n_classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, n_channels * widths[-1] * n_tokens)``."""
        tokens = x.transpose(1, 2).unsqueeze(2)  # (batch, n_channels, 1, n_times)
        for stage in self.stages:
            tokens = stage(tokens)
        return self.dropout(F.gelu(tokens)).flatten(1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.projection(self.features(x))


class Patches(nn.Module):
    """Map overlapping patches of every channel to tokens, then batch norm; the end is padded with its last value."""

    def __init__(self, width: int, patch_len: int, stride: int) -> None:
        super().__init__()
        self.padding = patch_len - stride
        self.value = nn.Conv1d(1, width, patch_len, stride=stride)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_channels, 1, n_times)`` to ``(batch, n_channels, width, n_tokens)``."""
        series = F.pad(x.flatten(0, 1), (0, self.padding), mode="replicate")
        return self.norm(self.value(series)).unflatten(0, x.shape[:2])


class Shortening(nn.Module):
    """Batch norm, then a map of every two neighbouring tokens to one; an odd last token is doubled."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(n_in)
        self.value = nn.Conv1d(n_in, n_out, DOWNSAMPLING, stride=DOWNSAMPLING)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_channels, n_in, n_tokens)`` to ``(batch, n_channels, n_out, ceil(n_tokens / 2))``."""
        tokens = F.pad(x.flatten(0, 1), (0, -x.shape[-1] % DOWNSAMPLING), mode="replicate")
        return self.value(self.norm(tokens)).unflatten(0, x.shape[:2])


class Block(nn.Module):
    """Mix the tokens of every feature of every channel, then a channel's features, then a feature's channels; add."""

    def __init__(
        self, n_channels: int, width: int, kernel_sizes: tuple[int, int], expand: int, dropout: float
    ) -> None:
        super().__init__()
        series = n_channels * width
        self.convolutions = nn.ModuleList(
            nn.Sequential(
                nn.Conv1d(series, series, size, padding=size // 2, groups=series, bias=False),
                nn.BatchNorm1d(series),
            )
            for size in kernel_sizes
        )
        self.norm = nn.BatchNorm1d(width)
        self.of_features = grouped_map(n_channels, width, expand, dropout)
        self.of_channels = grouped_map(width, n_channels, expand, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_channels, width, n_tokens)`` to the same shape."""
        n_channels = x.shape[1]
        mixed = torch.stack([convolution(x.flatten(1, 2)) for convolution in self.convolutions]).sum(0)
        mixed = self.norm(rearrange(mixed, "b (c d) t -> (b c) d t", c=n_channels))
        mixed = self.of_features(rearrange(mixed, "(b c) d t -> b (c d) t", c=n_channels))
        mixed = self.of_channels(rearrange(mixed, "b (c d) t -> b (d c) t", c=n_channels))
        return x + rearrange(mixed, "b (d c) t -> b c d t", c=n_channels)


def grouped_map(n_groups: int, width: int, expand: int, dropout: float) -> nn.Sequential:
    """Return a two-layer map of ``width`` values, its own for each of ``n_groups``, GELU and dropout inside."""
    inner, outer = n_groups * width * expand, n_groups * width
    return nn.Sequential(
        nn.Conv1d(outer, inner, 1, groups=n_groups),
        nn.Dropout(dropout),
        nn.GELU(),
        nn.Conv1d(inner, outer, 1, groups=n_groups),
        nn.Dropout(dropout),
    )
