"""Nonformer against the published code, and its two factors."""

from typing import Any

import pytest
import torch

from bench.models.nonformer import DestationaryAttention, Nonformer
from bench.models.transformer import Transformer
from tests.models.golden import DTYPES, MODULES, assert_matches, build_from, load_fixture
from tests.models.recording import attention_dropout, dropout_shapes, series

SETTINGS: dict[str, Any] = {
    "n_channels": 3,
    "n_times": 20,
    "n_classes": 2,
    "d_model": 16,
    "d_ff": 24,
    "n_layers": 2,
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonformer_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("nonformer")
    modules = {**MODULES, r"(tau|delta)_learner": r"\1_learner"}
    assert_matches(build_from(fixture), fixture, dtype, modules)


def test_attention_equals_its_definition() -> None:
    q, k, v = series(3, 2, 2, 9, 4, dtype=torch.float64)
    tau, delta = series(2, 1, dtype=torch.float64).exp(), series(2, 9, dtype=torch.float64)
    logits = (q @ k.transpose(2, 3) * tau[:, None, None] + delta[:, None, None]) / 2.0
    actual = DestationaryAttention(0.5).eval()(q, k, v, tau, delta)
    torch.testing.assert_close(actual, logits.softmax(-1) @ v)


def test_factors_of_a_known_series() -> None:
    model = Nonformer(**SETTINGS, projector_sizes=[4]).double()
    seen: list[torch.Tensor] = []
    for learner in (model.tau_learner, model.delta_learner):
        learner.register_forward_hook(lambda _module, inputs, _output: seen.append(inputs[1]))
    x = series(2, 20, 3, dtype=torch.float64)
    model.factors(x)
    spread = ((x - x.mean(1, keepdim=True)).square().mean(1, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(seen[0], spread)
    torch.testing.assert_close(seen[1], x.mean(1, keepdim=True))


@pytest.mark.parametrize("which", [0, 1])
def test_no_gradient_reaches_the_series_through_a_factor(which: int) -> None:
    x = series(2, 20, 3).requires_grad_()
    factor = Nonformer(**SETTINGS).factors(x)[which]
    assert torch.autograd.grad(factor.sum(), x, allow_unused=True) == (None,)


def test_without_factors_it_is_the_transformer() -> None:
    model = Nonformer(**SETTINGS).eval()
    for learner in (model.tau_learner, model.delta_learner):
        torch.nn.init.zeros_(learner.get_parameter("backbone.4.weight"))
    plain = Transformer(**SETTINGS).eval()
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if "_learner" not in k})
    x = series(2, 20, 3)
    torch.testing.assert_close(model(x), plain(x))


def test_projector_sizes_are_the_hidden_widths() -> None:
    model = Nonformer(**SETTINGS, projector_sizes=[8, 12])
    widths = {name: tuple(p.shape) for name, p in model.delta_learner.named_parameters()}
    assert widths == {
        "series_conv.weight": (1, 20, 3),
        "backbone.0.weight": (8, 6),
        "backbone.0.bias": (8,),
        "backbone.2.weight": (12, 8),
        "backbone.2.bias": (12,),
        "backbone.4.weight": (20, 12),
    }


def test_dropout_places(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = dropout_shapes(monkeypatch, Nonformer(**{**SETTINGS, "n_layers": 1}), series(2, 20, 3))
    tokens, hidden = (2, 20, 16), (2, 20, 24)
    assert shapes == [tokens, tokens, hidden, tokens, tokens]


@pytest.mark.parametrize(("training", "rate"), [(True, 0.3), (False, 0.0)])
def test_probabilities_are_dropped_in_training(
    training: bool, rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Nonformer(**SETTINGS, dropout=0.3).train(training)
    assert attention_dropout(monkeypatch, model, series(2, 20, 3)) == [rate, rate]
