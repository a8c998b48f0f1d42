"""The battery over every registered model, and the battery itself on models that break one promise each."""

import copy
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import bench.models
from bench import datasets
from bench.errors import ModelError
from bench.models import battery, promises
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
    promises.verify(check, make, promises.exceptions_of(type(model)))


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


class EvenOnlyInSecret(Honest):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)[:, : None if self.n_times % 2 == 0 else 1]


class OneClassTooMany(Honest):
    def __init__(self, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_times, n_classes + (n_classes == 3))


class OtherFeatures(Honest):
    def forward(self, x: Tensor) -> Tensor:
        return self.projection(x.amax(1))


class Choosy(Honest):
    """Refuses by a rule, as a model with a hidden assumption would."""

    def __init__(self, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_times, n_classes)
        if self.refuses(n_channels, n_times, n_classes):
            raise RuntimeError("no")

    @staticmethod
    def refuses(n_channels: int, n_times: int, n_classes: int) -> bool:
        raise NotImplementedError


class LongOnly(Choosy):
    @staticmethod
    def refuses(n_channels: int, n_times: int, n_classes: int) -> bool:
        return n_times < 61


class ManyChannels(Choosy):
    @staticmethod
    def refuses(n_channels: int, n_times: int, n_classes: int) -> bool:
        return n_channels == 1 and n_times == 64


class ManyClasses(Choosy):
    @staticmethod
    def refuses(n_channels: int, n_times: int, n_classes: int) -> bool:
        return n_classes == 2 and n_times == 64


class FewChannels(Choosy):
    @staticmethod
    def refuses(n_channels: int, n_times: int, n_classes: int) -> bool:
        return n_channels > 12


class ManyWindows(Honest):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).squeeze(0)


class WideOnly(Honest):
    def forward(self, x: Tensor) -> Tensor:
        logits = super().forward(x)
        return logits / 0 if logits.dtype == torch.bfloat16 else logits


class Unseeded(Honest):
    def __init__(self, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_times, n_classes)
        nn.init.normal_(self.projection.weight, generator=torch.Generator().manual_seed(next(COUNTER)))


class Sharing(Honest):
    TABLE = torch.zeros(3)

    def __init__(self, n_channels: int, n_times: int, n_classes: int) -> None:
        super().__init__(n_channels, n_times, n_classes)
        self.register_buffer("table", self.TABLE)

    def __deepcopy__(self, memo: dict) -> "Sharing":
        copied = copy.copy(self)
        copied._parameters, copied._modules = {}, copy.deepcopy(self._modules, memo)
        return copied


COUNTER = itertools.count()


BROKEN: list[tuple[type[Honest], set[str]]] = [
    (Honest, set()),
    (WrongWidth, {"check_features"}),
    (Unused, {"check_gradients"}),
    (BatchMean, {"check_windows_are_independent"}),
    (
        Noisy,
        {
            "check_features",
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
    (EvenOnlyInSecret, {"check_odd_length"}),
    (OtherFeatures, {"check_features"}),
    (LongOnly, {"check_short_windows"}),
    (ManyChannels, {"check_one_channel"}),
    (ManyClasses, {"check_two_classes"}),
    (FewChannels, {"check_dataset_shapes"}),
    (ManyWindows, {"check_one_window", "check_windows_are_independent"}),
    (WideOnly, {"check_bfloat16_training"}),
    (Unseeded, {"check_same_seed_same_weights"}),
    (Sharing, {"check_deepcopy"}),
    (
        OneClassTooMany,
        {
            "check_logits",
            "check_dataset_shapes",
            "check_odd_length",
            "check_short_windows",
            "check_one_channel",
            "check_one_window",
        },
    ),
]


@pytest.mark.parametrize(("model", "expected"), BROKEN, ids=lambda one: getattr(one, "__name__", ""))
def test_battery_finds_the_broken_promise(model: type[Honest], expected: set[str]) -> None:
    failed = {outcome.check for outcome in battery.run_battery(model, {}) if outcome.problem}
    assert failed == expected


def test_an_exception_that_is_not_needed_is_refused() -> None:
    with pytest.raises(ModelError, match="check_odd_length passes; take it out"):
        promises.verify(battery.check_odd_length, Honest, {"check_odd_length": "no reason"})


def test_an_exception_that_is_needed_is_accepted() -> None:
    promises.verify(battery.check_odd_length, EvenOnly, {"check_odd_length": "refuses odd lengths"})


def test_an_excepted_model_has_to_refuse() -> None:
    with pytest.raises(promises.BrokenPromise, match="expected 3"):
        promises.verify(
            battery.check_odd_length, EvenOnlyInSecret, {"check_odd_length": "refuses odd lengths"}
        )


@pytest.mark.parametrize("check", battery.CHECKS, ids=lambda check: check.__name__)
def test_every_check_can_fail(check: Callable[[battery.Factory], None]) -> None:
    assert any(check.__name__ in broken for _, broken in BROKEN)


def test_shapes_are_those_of_the_datasets() -> None:
    facts = {name: datasets.facts(name) for name in datasets.names(all_only=True)}
    assert {
        name: battery.Shape(n_channels=one.n_channels, n_times=one.n_times, n_classes=one.n_classes)
        for name, one in facts.items()
    } == promises.DATASET_SHAPES


def test_an_exception_from_an_unknown_check_is_refused() -> None:
    with pytest.raises(ModelError, match="names 'check_nothing'"):
        list(battery.run_battery(Honest, {"check_nothing": "no reason"}))
