"""S4D: its convolution is the recurrence that it stands for."""

import torch

from bench.models.beyond.s4d import S4D, DiagonalStates


def recurrence(layer: DiagonalStates, u: torch.Tensor) -> torch.Tensor:
    """Step through time with the states discretised by zero-order hold."""
    rate = torch.complex(-layer.log_decay.exp(), layer.frequency)
    decay = torch.exp(rate * layer.log_step.exp().unsqueeze(-1))
    weight = torch.view_as_complex(layer.C)
    state = torch.zeros(*u.shape[:2], rate.shape[1], dtype=rate.dtype)
    outputs = []
    for value in u.unbind(-1):
        state = decay * state + (decay - 1) / rate * value.unsqueeze(-1)
        outputs.append(2 * (weight * state).sum(-1).real + layer.D * value)
    return torch.stack(outputs, dim=-1)


def test_the_convolution_is_the_recurrence() -> None:
    torch.manual_seed(0)
    layer = DiagonalStates(4, 8).double()
    for n_times in (1, 10, 61):
        u = torch.randn(2, 4, n_times, dtype=torch.float64)
        torch.testing.assert_close(layer(u), recurrence(layer, u))


def test_the_end_of_a_window_does_not_reach_its_start() -> None:
    layer = DiagonalStates(4, 8).double()
    u = torch.zeros(1, 4, 50, dtype=torch.float64)
    u[..., -1] = 1.0
    assert layer(u)[..., :-1].abs().max() < 1e-12


def test_states_start_as_published() -> None:
    layer = DiagonalStates(300, 8)
    assert torch.allclose(layer.log_decay.exp(), torch.tensor(0.5))
    assert torch.allclose(layer.frequency[0], torch.pi * torch.arange(4.0))
    steps = layer.log_step.exp()
    assert 0.001 <= steps.min() < 0.0015
    assert 0.07 < steps.max() <= 0.1


def test_states_have_no_weight_decay() -> None:
    model = S4D(n_channels=2, n_times=16, n_classes=2, d_model=8, n_layers=2)
    assert len(model.no_weight_decay()) == 2 * 3
    assert model.no_weight_decay() <= dict(model.named_parameters()).keys()
