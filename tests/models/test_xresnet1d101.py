"""xresnet1d101: steps left at each stage, and the two ways through a block."""

from typing import Any

import pytest
import torch
from torch import nn

from bench.models.beyond.xresnet1d101 import Bottleneck, XResNet1d101


@pytest.mark.parametrize(("n_times", "left"), [(10, 1), (250, 8), (1000, 32), (3000, 94)])
def test_five_halvings_round_up(n_times: int, left: int) -> None:
    model = XResNet1d101(n_channels=2, n_times=n_times, n_classes=2, n_blocks=(1, 1, 1, 1), width=8).eval()
    assert model.body(torch.zeros(1, 2, n_times)).shape == (1, 32, left)


def test_a_stride_averages_the_input_in_pairs() -> None:
    block: Any = Bottleneck(32, 8, 5, stride=2).eval()
    nn.init.zeros_(block.inner[-1].norm.weight)
    x = torch.rand(1, 32, 5)
    expected = torch.stack([x[..., 0:2].mean(-1), x[..., 2:4].mean(-1), x[..., 4]], dim=-1)
    torch.testing.assert_close(block(x), expected)


def test_features_are_of_maximum_and_mean() -> None:
    model = XResNet1d101(n_channels=2, n_times=64, n_classes=2, n_blocks=(1, 1, 1, 1), width=8).eval()
    x = torch.randn(3, 64, 2)
    steps = model.body(x.transpose(1, 2))
    torch.testing.assert_close(
        model.features(x), model.head.features(torch.cat([steps.max(-1).values, steps.mean(-1)], dim=1))
    )
