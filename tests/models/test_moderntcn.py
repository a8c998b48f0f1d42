"""ModernTCN: patches, what each part of a block mixes, and stages."""

from typing import Any

import pytest
import torch

from bench.errors import UsageError
from bench.models.beyond.moderntcn import Block, ModernTCN, Patches, Shortening


@pytest.mark.parametrize("n_times", [10, 61, 64])
def test_there_are_as_many_patches_as_strides(n_times: int) -> None:
    assert Patches(6, 8, 4)(torch.randn(2, 3, 1, n_times)).shape == (2, 3, 6, n_times // 4)


def test_the_last_value_pads_the_end() -> None:
    layer = Patches(1, 8, 4).eval()
    x = torch.randn(1, 1, 1, 8)
    longer = torch.cat([x, x[..., -1:].expand(-1, -1, -1, 4)], dim=-1)
    torch.testing.assert_close(
        layer.value(longer[0]), layer.value(torch.nn.functional.pad(x[0], (0, 4), mode="replicate"))
    )
    torch.testing.assert_close(layer(x)[0] * (1 + layer.norm.eps) ** 0.5, layer.value(longer[0]))


def changed_entries(part: str) -> torch.Tensor:
    """Change one channel, feature and token of a block's input and say where its branch's output changes."""
    torch.manual_seed(0)
    block: Any = Block(3, 4, (5, 3), 2, 0.0).eval()
    others = {
        "tokens": ("of_features", "of_channels"),
        "features": ("of_channels",),
        "channels": ("of_features",),
    }
    for name in others[part]:
        setattr(block, name, torch.nn.Identity())
    if part != "tokens":
        for convolution in block.convolutions:
            weight = convolution[0].weight
            with torch.no_grad():
                weight[..., torch.arange(weight.shape[-1]) != weight.shape[-1] // 2] = 0.0
    x = torch.randn(1, 3, 4, 9)
    changed = x.clone()
    changed[0, 1, 2, 4] += 1.0
    return ((block(x) - block(changed)).abs() > 1e-6)[0]


def test_convolutions_mix_tokens_only() -> None:
    channels, features, tokens = changed_entries("tokens").nonzero().unbind(1)
    assert (set(channels.tolist()), set(features.tolist())) == ({1}, {2})
    assert set(tokens.tolist()) == {2, 3, 4, 5, 6}


def test_one_map_mixes_a_channels_features() -> None:
    channels, features, tokens = changed_entries("features").nonzero().unbind(1)
    assert (set(channels.tolist()), set(tokens.tolist())) == ({1}, {4})
    assert set(features.tolist()) == {0, 1, 2, 3}


def test_the_other_mixes_a_features_channels() -> None:
    channels, features, tokens = changed_entries("channels").nonzero().unbind(1)
    assert (set(features.tolist()), set(tokens.tolist())) == ({2}, {4})
    assert set(channels.tolist()) == {0, 1, 2}


def test_a_stage_halves_the_tokens_and_doubles_an_odd_last_one() -> None:
    layer = Shortening(4, 6).eval()
    x = torch.randn(2, 3, 4, 5)
    whole = torch.cat([x, x[..., -1:]], dim=-1)
    assert layer(x).shape == (2, 3, 6, 3)
    torch.testing.assert_close(layer(x), layer(whole))


def test_several_stages() -> None:
    model = ModernTCN(
        n_channels=2, n_times=61, n_classes=3, widths=(4, 6, 8), n_blocks=(1, 2, 1), kernel_sizes=(7, 5, 3)
    )
    assert model(torch.randn(2, 61, 2)).shape == (2, 3)


def test_a_stride_longer_than_a_window_is_refused() -> None:
    with pytest.raises(UsageError, match="stride=4 exceeds patch_len=8 or n_times=3; lower it"):
        ModernTCN(n_channels=2, n_times=3, n_classes=2)
