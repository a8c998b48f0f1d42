"""Patches of single channels: each series is padded at its end, cut in windows and embedded, all channels alike.

Source: DL4mHealth/Medformer at 446275f, ``layers/Embed.py`` (PatchEmbedding).
"""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.dropout import Dropout
from bench.models.layers.embedding import sinusoidal_table


def repeat_end(x: Tensor, n_steps: int) -> Tensor:
    """Append ``n_steps`` copies of the last step to ``(batch, n_channels, n_times)``."""
    return F.pad(x, (0, n_steps), mode="replicate")


class PatchEmbedding(nn.Module):
    """Linear map of each patch, without bias, plus the sinusoidal table; then dropout.

    ``padding`` copies of the last step are appended to ``n_times`` before patches of ``patch_len`` are cut at every
    ``stride``; ``n_patches`` is their number.
    """

    position: Tensor

    def __init__(
        self, n_times: int, d_model: int, dropout: float, *, patch_len: int, stride: int, padding: int
    ) -> None:
        super().__init__()
        if patch_len < 1 or stride < 1:
            raise UsageError(f"patch_len and stride must be at least 1, got {patch_len} and {stride}")
        if n_times + padding < patch_len:
            raise UsageError(
                f"patch_len={patch_len} is longer than the series of {n_times} steps and its padding of {padding};"
                " choose a shorter patch"
            )
        self.patch_len, self.stride, self.padding = patch_len, stride, padding
        self.n_patches = (n_times + padding - patch_len) // stride + 1
        self.value = nn.Linear(patch_len, d_model, bias=False)
        self.register_buffer("position", sinusoidal_table(self.n_patches, d_model), persistent=False)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, n_channels)`` to ``(batch, n_channels, n_patches, d_model)``."""
        series = repeat_end(x.transpose(1, 2), self.padding)
        patches = series.unfold(-1, self.patch_len, self.stride)  # (batch, n_channels, n_patches, patch_len)
        return self.dropout(self.value(patches) + self.position)


def per_channel(encoder: Callable[[Tensor], Tensor], tokens: Tensor) -> Tensor:
    """Apply an encoder of ``(batch, tokens, d_model)`` to every channel of ``(batch, n_channels, tokens, d_model)``."""
    return encoder(tokens.flatten(0, 1)).unflatten(0, tokens.shape[:2])
