"""Medformer's granularities: patches of all channels in several lengths, and attention within and between them.

The tokens of all granularities travel as one sequence in list order, since everything but attention is token-wise.
Source: DL4mHealth/Medformer at 446275f, ``layers/Embed.py``, ``layers/Medformer_EncDec.py``.
"""

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.embedding import sinusoidal_table
from bench.models.layers.encoder import ENCODER_RENAMES
from bench.models.layers.patching import repeat_end


class Granularities(nn.Module):
    """The patch maps of all granularities and what is added to their tokens.

    ``patches`` holds one map per entry of ``patch_lengths`` (repeats are separate granularities), ``lengths`` the
    number of tokens of each, ``last`` the position of each one's last token in the joined sequence.
    """

    position: Tensor
    last: Tensor

    def __init__(self, n_channels: int, n_times: int, d_model: int, patch_lengths: Sequence[int]) -> None:
        super().__init__()
        if not patch_lengths or min(patch_lengths) < 1:
            raise UsageError(f"patch_lengths must be positive numbers of steps, got {list(patch_lengths)}")
        self.lengths = [n_times // length + 1 for length in patch_lengths]
        self.patches = nn.ModuleList(
            AllChannelPatches(n_channels, length, d_model) for length in patch_lengths
        )
        self.tags = nn.ParameterList(torch.randn(1, d_model) for _ in patch_lengths)
        table = sinusoidal_table(max(self.lengths), d_model)
        self.register_buffer("position", table, persistent=False)
        self.register_buffer("last", last_tokens(self.lengths), persistent=False)

    def forward(self, tokens: Sequence[Tensor]) -> Tensor:
        """Add tag and position to ``(batch, tokens, d_model)`` of each granularity and join them."""
        return torch.cat(
            [
                token + tag + self.position[: token.size(1)]
                for token, tag in zip(tokens, self.tags, strict=True)
            ],
            dim=1,
        )


class AllChannelPatches(nn.Module):
    """Linear map of patches of all channels at once; the end is padded by one patch of the last step's copies."""

    def __init__(self, n_channels: int, patch_len: int, d_model: int) -> None:
        super().__init__()
        self.patch_len = patch_len
        self.weight = nn.Parameter(torch.empty(d_model, 1, n_channels, patch_len))
        nn.init.normal_(self.weight, std=math.sqrt(2.0 / (n_channels * patch_len)))

    def forward(self, series: Tensor) -> Tensor:
        """Map ``(batch, n_channels, n_times)`` to ``(batch, n_times // patch_len + 1, d_model)``."""
        padded = repeat_end(series, self.patch_len)
        return F.conv1d(padded, self.weight.squeeze(1), stride=self.patch_len).transpose(1, 2)


class GranularityAttention(nn.Module):
    """Attention within each granularity, then between the last tokens of all, whose results take their places.

    The last token is the padded patch. With one granularity there is nothing between.
    """

    last: Tensor

    def __init__(self, make_attention: Callable[[], nn.Module], lengths: Sequence[int]) -> None:
        super().__init__()
        self.lengths = list(lengths)
        self.intra = nn.ModuleList(make_attention() for _ in lengths)
        self.inter = make_attention() if len(lengths) > 1 else None
        self.register_buffer("last", last_tokens(lengths), persistent=False)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Map joined tokens ``(batch, tokens, d_model)`` three times to the same shape."""
        parts = zip(self.intra, *(x.split(self.lengths, dim=1) for x in (queries, keys, values)), strict=True)
        tokens = torch.cat([attention(q, k, v) for attention, q, k, v in parts], dim=1)
        if self.inter is None:
            return tokens
        routers = tokens[:, self.last]  # (batch, granularities, d_model)
        return tokens.index_copy(1, self.last, self.inter(routers, routers, routers))


def last_tokens(lengths: Sequence[int]) -> Tensor:
    """Return the position of each granularity's last token in the joined sequence."""
    return torch.tensor(list(lengths)).cumsum(0) - 1


_PROJECTION = r"(query|key|value|out)_projection\.(weight|bias)"
GRANULARITY_RENAMES = {
    r"enc_embedding\.value_embeddings\.(\d+)\.tokenConv\.weight": r"embedding.patches.\1.weight",
    r"enc_embedding\.learnable_embeddings\.(\d+)": r"embedding.tags.\1",
    r"encoder\.attn_layers\.(\d+)\.attention\.intra_attentions\.(\d+)\." + _PROJECTION: (
        r"encoder.layers.\1.attention.intra.\2.\3.\4"
    ),
    r"encoder\.attn_layers\.(\d+)\.attention\.inter_attention\." + _PROJECTION: (
        r"encoder.layers.\1.attention.inter.\2.\3"
    ),
    **ENCODER_RENAMES,
}
