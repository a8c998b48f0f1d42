"""ResNet for time series: what a block adds to what."""

from typing import Any

import torch
from torch import nn

from bench.models.beyond.resnet1d import ResidualBlock


def test_the_input_is_added_before_the_last_relu() -> None:
    for n_in in (3, 8):
        block: Any = ResidualBlock(n_in, 8, (8, 5, 3)).eval()
        nn.init.zeros_(block.convolutions[-1][1].weight)
        x = torch.randn(2, n_in, 20)
        torch.testing.assert_close(block(x), block.shortcut(x).relu())


def test_only_another_width_needs_a_convolution() -> None:
    assert isinstance(ResidualBlock(8, 8, (3,)).shortcut, nn.BatchNorm1d)
    assert isinstance(ResidualBlock(3, 8, (3,)).shortcut, nn.Sequential)
