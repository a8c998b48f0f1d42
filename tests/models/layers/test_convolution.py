"""Convolutions that keep the number of steps."""

import pytest
import torch

from bench.models.layers.convolution import SameConv


@pytest.mark.parametrize("kernel_size", [1, 3, 8, 40])
@pytest.mark.parametrize("n_times", [1, 10, 61])
def test_as_many_steps_come_out(kernel_size: int, n_times: int) -> None:
    assert SameConv(2, 5, kernel_size)(torch.zeros(3, 2, n_times)).shape == (3, 5, n_times)


def test_an_even_kernel_looks_further_ahead_than_back() -> None:
    layer = SameConv(1, 1, 8, bias=False)
    torch.nn.init.ones_(layer.weight)
    impulse = torch.zeros(1, 1, 20)
    impulse[..., 10] = 1.0
    # Step t sees t - 3 to t + 4.
    assert layer(impulse).flatten().nonzero().flatten().tolist() == list(range(6, 14))
