"""TCN: how far back it looks."""

import torch

from bench.models.beyond.tcn import TCN

REACH = 1 + 2 * (3 - 1) * (2**3 - 1)


def test_the_last_step_sees_as_far_back_as_is_said() -> None:
    model = TCN(n_channels=1, n_times=60, n_classes=2, d_model=8, n_layers=3, kernel_size=3).eval().double()
    x = torch.randn(1, 60, 1, dtype=torch.float64, requires_grad=True)
    model.features(x).abs().sum().backward()
    assert x.grad is not None
    seen = x.grad[0, :, 0] != 0
    assert not seen[:-REACH].any()
    assert seen[-REACH:].all()


def test_no_step_sees_a_later_one() -> None:
    model = TCN(n_channels=2, n_times=30, n_classes=2, d_model=8, n_layers=3).eval()
    x = torch.randn(1, 2, 30)
    changed = x.clone()
    changed[..., 20:] += 1.0
    difference = (model.body(x) - model.body(changed)).abs().amax(1)[0]
    assert not difference[:20].any()
    assert difference[20:].all()
