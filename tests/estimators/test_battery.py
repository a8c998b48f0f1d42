"""The battery over every registered estimator, and the battery itself on estimators that break one promise each."""
# ruff: noqa: N803 - X is scikit-learn's name

import itertools
import random
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from bench.errors import ModelError
from bench.estimators import battery, registry
from bench.models import promises
from bench.models import registry as models

# Small enough for seconds.
SMALL_SETTINGS = {"minirocket": {"n_features": 840}}


@pytest.mark.parametrize("check", battery.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", models.estimator_names())
def test_registered_estimator(name: str, check: Callable[[battery.Factory], None]) -> None:
    make = partial(registry.build, name, **SMALL_SETTINGS.get(name, {}))
    promises.verify(check, make, promises.exceptions_of(type(make())))


class Honest(ClassifierMixin, BaseEstimator):
    """Nearest class mean: keeps every promise, for the broken ones to derive from."""

    window_layout = "flat"

    def __init__(self, width: float = 1.0, random_state: int | None = None) -> None:
        self.width = width
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def decision_function(self, X: Any) -> Any:
        values = -np.square(X[:, None] - self.means_).mean(axis=2) / self.width
        return values if len(self.classes_) > 2 else values[:, 1] - values[:, 0]


class NoOutput(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> None: ...


class Refusing(Honest):
    """Refuses by a rule, as an estimator with a hidden assumption would."""

    def fit(self, X: Any, y: Any) -> Self:
        if self.refuses(X.reshape(len(X), -1).shape[1], len(np.unique(y))):
            raise ValueError("no")
        return super().fit(X, y)

    @staticmethod
    def refuses(n_numbers: int, n_classes: int) -> bool:
        raise NotImplementedError


class NotTheSleepers(Refusing):
    @staticmethod
    def refuses(n_numbers: int, n_classes: int) -> bool:
        return n_numbers == 3000


class NotTwo(Refusing):
    @staticmethod
    def refuses(n_numbers: int, n_classes: int) -> bool:
        return n_numbers == 192 and n_classes == 2


class NotFive(Refusing):
    @staticmethod
    def refuses(n_numbers: int, n_classes: int) -> bool:
        return n_numbers == 192 and n_classes == 5


class NotSingleChannels(Refusing):
    @staticmethod
    def refuses(n_numbers: int, n_classes: int) -> bool:
        return n_numbers == 64


class EvenOnly(Refusing):
    @staticmethod
    def refuses(n_numbers: int, n_classes: int) -> bool:
        return n_numbers == 3 * 61


class LongOnly(Refusing):
    @staticmethod
    def refuses(n_numbers: int, n_classes: int) -> bool:
        return n_numbers == 3 * 26


class ThreeOnly(Refusing):
    """Numbers its columns as if no class could be missing."""

    @staticmethod
    def refuses(n_numbers: int, n_classes: int) -> bool:
        return n_classes < 3


class Dividing(Honest):
    def decision_function(self, X: Any) -> Any:
        spread = (
            self.means_.reshape(len(self.means_), 3, -1).std(axis=2) if X.shape[1] == 192 else np.ones((1, 1))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return super().decision_function(X) + (0 / spread).sum()


class Squeezing(Honest):
    def decision_function(self, X: Any) -> Any:
        return super().decision_function(X).squeeze()


class Relative(Honest):
    def decision_function(self, X: Any) -> Any:
        values = super().decision_function(X)
        return values - values.mean(axis=0) if len(values) > 1 else values


class Unseeded(Honest):
    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, y)
        self.means_ = self.means_ + next(COUNTER)
        return self


class Tiring(Honest):
    def decision_function(self, X: Any) -> Any:
        return super().decision_function(X) * (1 + next(COUNTER))


class GlobalNumPy(Honest):
    def fit(self, X: Any, y: Any) -> Self:
        np.random.rand()  # noqa: NPY002 - what the check looks for
        return super().fit(X, y)


class GlobalPython(Honest):
    def decision_function(self, X: Any) -> Any:
        random.random()
        return super().decision_function(X)


class Remembering(Honest):
    def fit(self, X: Any, y: Any) -> Self:
        before = getattr(self, "means_", 0.0)
        super().fit(X, y)
        if np.shape(before) == self.means_.shape:
            self.means_ = self.means_ + before
        return self


class InPlace(Honest):
    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, y)
        X -= 1.0
        return self


class Untold(Honest):
    def __init__(self, width: Any = lambda: 1.0, random_state: int | None = None) -> None:
        super().__init__(1.0, random_state)
        self.shape = width

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"width": self.shape, "random_state": self.random_state}


class Changed(Honest):
    """Writes what it found in the data where its parameters are."""

    def fit(self, X: Any, y: Any) -> Self:
        super().fit(X, y)
        self.width = self.width + 1.0
        return self


COUNTER = itertools.count()

BROKEN: list[tuple[type[BaseEstimator], set[str]]] = [
    (Honest, set()),
    (NoOutput, {check.__name__ for check in battery.CHECKS}),
    (NotTheSleepers, {"check_dataset_shapes"}),
    (NotTwo, {"check_two_classes", "check_missing_class"}),
    (NotFive, {"check_five_classes"}),
    (NotSingleChannels, {"check_one_channel"}),
    (EvenOnly, {"check_odd_length"}),
    (LongOnly, {"check_short_windows"}),
    (ThreeOnly, {"check_missing_class", "check_two_classes", "check_dataset_shapes"}),
    (Dividing, {"check_flat_channel"}),
    (Squeezing, {"check_one_window", "check_windows_are_independent"}),
    (Relative, {"check_windows_are_independent"}),
    (
        Unseeded,
        {"check_same_seed_same_logits", "check_fitting_again_starts_afresh", "check_clone"},
    ),
    (
        Tiring,
        {
            "check_repeatable_logits",
            "check_same_seed_same_logits",
            "check_windows_are_independent",
            "check_fitting_again_starts_afresh",
            "check_clone",
        },
    ),
    (GlobalNumPy, {"check_global_randomness_is_left_alone"}),
    (GlobalPython, {"check_global_randomness_is_left_alone"}),
    (Remembering, {"check_fitting_again_starts_afresh"}),
    (InPlace, {"check_input_is_kept", "check_clone"}),
    (Untold, {"check_parameters_are_told"}),
    (Changed, {"check_parameters_are_told", "check_fitting_again_starts_afresh", "check_clone"}),
]


@pytest.mark.parametrize(("estimator", "expected"), BROKEN, ids=lambda one: getattr(one, "__name__", ""))
def test_battery_finds_the_broken_promise(estimator: type[BaseEstimator], expected: set[str]) -> None:
    failed = {outcome.check for outcome in battery.run_battery(estimator, {}) if outcome.problem}
    assert failed == expected


@pytest.mark.parametrize("check", battery.CHECKS, ids=lambda check: check.__name__)
def test_every_check_can_fail(check: Callable[[battery.Factory], None]) -> None:
    assert any(check.__name__ in broken for _, broken in BROKEN)


class Excepted(Honest):
    def fit(self, X: Any, y: Any) -> Self:
        if X.shape[1] == 64:
            raise ModelError("one channel has nothing to compare")
        return super().fit(X, y)


def test_an_exception_that_is_needed_is_accepted() -> None:
    promises.verify(battery.check_one_channel, Excepted, {"check_one_channel": "compares channels"})
    with pytest.raises(ModelError, match="nothing to compare"):
        promises.verify(battery.check_one_channel, Excepted, {})


def test_an_exception_that_is_not_needed_is_refused() -> None:
    with pytest.raises(ModelError, match="check_odd_length passes; take it out"):
        promises.verify(battery.check_odd_length, Honest, {"check_odd_length": "no reason"})


def test_an_excepted_estimator_has_to_refuse() -> None:
    with pytest.raises(promises.BrokenPromise, match="together and alone differ"):
        promises.verify(
            battery.check_windows_are_independent, Relative, {"check_windows_are_independent": "ranks"}
        )


def test_an_exception_from_an_unknown_check_is_refused() -> None:
    with pytest.raises(ModelError, match="names 'check_nothing'"):
        list(battery.run_battery(Honest, {"check_nothing": "no reason"}))
