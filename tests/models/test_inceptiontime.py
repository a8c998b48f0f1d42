"""InceptionTime: its modules and what leads over them."""

from typing import Any

import pytest
import torch
from torch import nn

from bench.models.beyond.inceptiontime import InceptionModule, InceptionTime, ResidualBlock


def test_a_single_channel_has_no_bottleneck() -> None:
    assert isinstance(InceptionModule(1, 4, (8, 4)).bottleneck, nn.Identity)
    assert isinstance(InceptionModule(2, 4, (8, 4)).bottleneck, nn.Conv1d)


@pytest.mark.parametrize(("n_layers", "blocks", "rest"), [(1, 0, 1), (3, 1, 0), (6, 2, 0), (7, 2, 1)])
def test_a_residual_connection_leads_over_three_modules(n_layers: int, blocks: int, rest: int) -> None:
    body = InceptionTime(n_channels=3, n_times=20, n_classes=2, n_filters=4, n_layers=n_layers).body
    assert [isinstance(part, ResidualBlock) for part in body] == [True] * blocks + [False] * rest


def test_the_input_of_a_block_is_added_to_its_output() -> None:
    block: Any = ResidualBlock(3, 12, [InceptionModule(3, 4, (8, 4))]).eval()
    nn.init.zeros_(block.inner[0].norm.weight)
    x = torch.randn(2, 3, 20)
    torch.testing.assert_close(block(x), block.shortcut(x).relu())


def test_one_branch_takes_the_maximum_of_three_steps() -> None:
    module = InceptionModule(1, 1, (1,)).eval()
    nn.init.ones_(module.of_maximum.weight)
    x = torch.rand(1, 1, 9)
    padded = nn.functional.pad(x, (1, 1), value=-1.0)[0, 0]
    expected = torch.stack([padded[i : i + 3].max() for i in range(9)])
    torch.testing.assert_close(module(x)[0, 1] * (1 + module.norm.eps) ** 0.5, expected)
