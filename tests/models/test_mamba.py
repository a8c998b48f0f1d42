"""Plain Mamba: in order of time, and nothing of MedMamba's but the scan."""

import math
from typing import Any

import pytest
import torch

from bench.models.beyond.mamba import Mamba
from bench.models.layers.mamba_block import Mamba as MambaLayer
from bench.models.layers.mamba_block import MambaSettings


def small(**settings: Any) -> Mamba:
    torch.manual_seed(0)
    return Mamba(n_channels=2, n_times=30, n_classes=2, d_model=16, **settings)


def test_no_step_sees_a_later_one() -> None:
    blocks = small(n_layers=2).blocks.eval().double()
    x = torch.randn(1, 30, 16, dtype=torch.float64)
    changed = x.clone()
    changed[:, 20:] += torch.randn(10, 16, dtype=torch.float64)
    difference = (blocks(x) - blocks(changed)).abs().amax(-1)[0]
    assert difference[:20].max() == 0
    assert difference[20:].min() > 0


@pytest.mark.parametrize("steps_back", [0, 1, 2, 3])
def test_the_convolution_looks_as_far_back_as_asked(steps_back: int) -> None:
    layer = MambaLayer(4, 0.0, MambaSettings(steps_back=steps_back))
    torch.nn.init.ones_(layer.conv.weight)
    impulse = torch.zeros(1, 12, 8)
    impulse[:, 6] = 1.0
    mixed = layer._convolve(impulse)[..., 0] - layer._convolve(torch.zeros_like(impulse))[..., 0]
    expected = range(6 - (3 - steps_back), 6 + steps_back + 1)
    assert mixed.shape == (1, 12)
    assert (mixed[0].abs() > 1e-6).nonzero().flatten().tolist() == list(expected)


def test_a_block_adds_the_published_layer_to_its_input() -> None:
    """Against the formulas of the paper's figure 3, step by step."""
    block: Any = small(n_layers=1).blocks[0].double()
    layer, x = block.mamba, torch.randn(2, 9, 16, dtype=torch.float64)
    u, gate = layer.in_proj(x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * block.norm.weight).chunk(
        2, -1
    )
    taps = layer.conv.weight[:, 0]  # (d_inner, 4)
    padded = torch.cat([u.new_zeros(2, 3, u.shape[-1]), u], dim=1)
    u = torch.nn.functional.silu(sum(padded[:, k : k + 9] * taps[:, k] for k in range(4)) + layer.conv.bias)
    low_rank, b, c = (u @ layer.x_proj[0].T).split(layer.sizes, -1)
    step = torch.nn.functional.softplus(low_rank @ layer.dt_proj[0].T + layer.dt_bias[0])
    state, outputs = torch.zeros(2, u.shape[-1], 16, dtype=torch.float64), []
    for t in range(9):
        decay = torch.exp(-step[:, t, :, None] * layer.A_logs.exp())
        state = decay * state + (step[:, t] * u[:, t])[..., None] * b[:, t, None]
        outputs.append((state * c[:, t, None]).sum(-1) + layer.D * u[:, t])
    y = torch.stack(outputs, 1) * torch.nn.functional.silu(gate)
    torch.testing.assert_close(block(x), x + layer.out_proj(y))


def test_last_maps_start_smaller_the_more_blocks_there_are() -> None:
    def largest(n_layers: int) -> float:
        block: Any = small(n_layers=n_layers).blocks[0]
        return block.mamba.out_proj.weight.abs().max().item()

    bound = 1 / math.sqrt(32)
    assert largest(1) == pytest.approx(bound, rel=0.02)
    assert largest(4) == pytest.approx(bound / 2, rel=0.02)


def test_decay_rates_and_skips_have_no_weight_decay() -> None:
    assert len(small(n_layers=2).no_weight_decay()) == 2 * 2
