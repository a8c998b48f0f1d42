"""Batch normalisation of single windows, and the first weights, of the ECG benchmark's networks."""

import pytest
import torch
from torch import nn

from bench.models.layers.ecg_benchmark import BatchNorm, draw_weights


def trained_norm() -> BatchNorm:
    norm = BatchNorm(4)
    for seed in range(3):
        norm(1 + 2 * torch.randn(16, 4, generator=torch.Generator().manual_seed(seed)))
    return norm


@pytest.mark.parametrize("shape", [(1, 4), (1, 4, 1)])
def test_a_lone_value_is_scaled_by_the_running_statistics(shape: tuple[int, ...]) -> None:
    norm, value = trained_norm(), torch.randn(shape)
    before = {name: tensor.clone() for name, tensor in norm.state_dict().items()}
    training = norm.train()(value)
    assert all(torch.equal(tensor, before[name]) for name, tensor in norm.state_dict().items())
    torch.testing.assert_close(training, norm.eval()(value))


@pytest.mark.parametrize("shape", [(2, 4), (1, 4, 2)])
def test_more_values_are_scaled_by_their_own(shape: tuple[int, ...]) -> None:
    norm, values = trained_norm(), torch.randn(shape)
    torch.testing.assert_close(norm.train()(values), nn.BatchNorm1d(4)(values))


def test_weights_have_the_deviation_of_their_inputs_number() -> None:
    linear = nn.Linear(400, 300)
    draw_weights(linear)
    assert linear.weight.std().item() == pytest.approx((2 / 400) ** 0.5, rel=0.02)
    assert not linear.bias.any()
