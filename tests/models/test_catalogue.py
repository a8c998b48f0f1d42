"""What the catalogue says of a model is what the model does."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import bench.models
from bench.models.registry import entry, hyperparameters

SMALL: dict[str, Any] = {"d_model": 16, "d_ff": 16, "n_layers": 1, "n_heads": 2}
UNDISTURBED: dict[str, Any] = {"dropout": 0.0, "channel_dropout": 0.0, "drop_path": 0.0}


def small(name: str) -> nn.Module:
    known = hyperparameters(name)
    wanted = SMALL | UNDISTURBED
    torch.manual_seed(0)
    return bench.models.build(name, 3, 64, 3, **{key: wanted[key] for key in wanted if key in known})


def depends_on_the_others(model: nn.Module) -> bool:
    """Tell whether in training a window's logits depend on the others, other than by batch normalisation."""
    model.train()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.eval()
    draw = torch.Generator().manual_seed(0)
    own, one, other = (torch.randn(1, 64, 3, generator=draw, dtype=torch.float64) for _ in range(3))

    def logits(*windows: Tensor) -> Tensor:
        return model.double()(torch.cat(windows))[0]

    with torch.no_grad():
        return not torch.allclose(logits(own, one), logits(own, 9 * other), rtol=1e-9)


@pytest.mark.parametrize("name", bench.models.names())
def test_says_what_couples_the_windows_of_a_forward_pass(name: str) -> None:
    model = small(name)
    if hasattr(model, "draws"):
        assert entry(name).couples_windows == "draws"
    else:
        assert (entry(name).couples_windows == "statistics") == depends_on_the_others(model)


@pytest.mark.parametrize("name", bench.models.names())
def test_says_which_models_have_batch_normalisation(name: str) -> None:
    has = any(isinstance(module, nn.BatchNorm1d) for module in small(name).modules())
    assert entry(name).batch_normalisation == has
