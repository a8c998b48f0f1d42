"""The battery over every registered model, and the battery itself on models that break one promise each."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import bench.models
from bench.errors import ModelError
from bench.models import battery
from bench.models.registry import hyperparameters

# Small enough for seconds; the datasets' shapes are checked at published width.
SMALL_SETTINGS = {"d_model": 32, "d_ff": 64, "n_layers": 2}


def settings_for(name: str, check: Callable[..., None]) -> dict[str, Any]:
    if check is battery.check_dataset_shapes:
        return {}
    known = hyperparameters(name)
    return {key: value for key, value in SMALL_SETTINGS.items() if key in known}


@pytest.mark.parametrize("check", battery.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", bench.models.names())
def test_registered_model(name: str, check: Callable[[battery.Factory], None]) -> None:
    make = partial(bench.models.build, name, **settings_for(name, check))
    model = make(n_channels=3, n_times=64, n_classes=3)
    battery.verify(check, make, battery.exceptions_of(type(model)))


class Honest(nn.Module):
    """A model that keeps every promise, for the broken ones to derive from."""

    def __init__(self, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__()
        self.n_times = n_times
        self.projection = nn.Linear(n_channels, n_classes)

    def features(self, x: Tensor) -> Tensor:
        return x.mean(1)

    def forward(self, x: Tensor) -> Tensor:
        return self.projection(self.features(x))


class WrongWidth(Honest):
    def features(self, x: Tensor) -> Tensor:
        return x.mean(1)[:, :1]

    def forward(self, x: Tensor) -> Tensor:
        return self.projection(x.mean(1))


class Unused(Honest):
    def __init__(self, n_channels: int, n_times: int, n_classes: int) -> None:
        self_unused = nn.Parameter(torch.zeros(1))
        super().__init__(n_channels, n_times, n_classes)
        self.unused = self_unused


class BatchMean(Honest):
    def features(self, x: Tensor) -> Tensor:
        return x.mean(1) - x.mean((0, 1))


class Noisy(Honest):
    def features(self, x: Tensor) -> Tensor:
        return x.mean(1) + torch.randn(())


class Single(Honest):
    def forward(self, x: Tensor) -> Tensor:
        return self.projection(self.features(x).to(self.projection.weight.dtype)).float()


class InPlace(Honest):
    def features(self, x: Tensor) -> Tensor:
        return x.sub_(1.0).mean(1)


class Forgetful(Honest):
    def __init__(self, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_times, n_classes)
        self.scale = torch.rand(())

    def features(self, x: Tensor) -> Tensor:
        return x.mean(1) * self.scale


class EvenOnly(Honest):
    def features(self, x: Tensor) -> Tensor:
        if self.n_times % 2:
            raise ModelError("odd")
        return super().features(x)


BROKEN: list[tuple[type[Honest], set[str]]] = [
    (Honest, set()),
    (WrongWidth, {"check_features"}),
    (Unused, {"check_gradients"}),
    (BatchMean, {"check_windows_are_independent"}),
    (
        Noisy,
        {
            "check_repeatable_evaluation",
            "check_evaluation_leaves_global_randomness",
            "check_windows_are_independent",
            "check_double_precision",
            "check_state_dict_round_trip",
            "check_deepcopy",
        },
    ),
    (Single, {"check_double_precision"}),
    (
        InPlace,
        {
            "check_input_is_kept",
            "check_repeatable_training",
            "check_windows_are_independent",
            "check_state_dict_round_trip",
            "check_deepcopy",
        },
    ),
    (Forgetful, {"check_state_dict_round_trip"}),
    (EvenOnly, {"check_odd_length"}),
]


@pytest.mark.parametrize(("model", "expected"), BROKEN, ids=lambda one: getattr(one, "__name__", ""))
def test_battery_finds_the_broken_promise(model: type[Honest], expected: set[str]) -> None:
    failed = {outcome.check for outcome in battery.run_battery(model, {}) if outcome.problem}
    assert failed == expected


def test_an_exception_that_is_not_needed_is_refused() -> None:
    with pytest.raises(ModelError, match="check_odd_length passes; take it out"):
        battery.verify(battery.check_odd_length, Honest, {"check_odd_length": "no reason"})


def test_an_exception_that_is_needed_is_accepted() -> None:
    battery.verify(battery.check_odd_length, EvenOnly, {"check_odd_length": "refuses odd lengths"})


def test_an_exception_from_an_unknown_check_is_refused() -> None:
    with pytest.raises(ModelError, match="names 'check_nothing'"):
        list(battery.run_battery(Honest, {"check_nothing": "no reason"}))
