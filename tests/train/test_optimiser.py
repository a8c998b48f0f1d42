"""Optimiser groups and the learning-rate schedule, at the steps that the recipe names."""

import pytest
import torch

from bench.train.optimiser import learning_rate_factor, make_optimiser
from tests.train.cohort import make_model, training


def test_warm_up_and_cosine_hit_their_ends() -> None:
    factor = learning_rate_factor(training(warmup_epochs=5, epochs=50), steps_per_epoch=10)
    assert factor(0) == pytest.approx(0.01)
    assert factor(50) == pytest.approx(1.0)
    assert factor(499) == pytest.approx(0.0, abs=1e-12)
    assert factor(25) == pytest.approx(0.01 + 0.99 / 2)


def test_factor_rises_then_falls() -> None:
    factor = learning_rate_factor(training(warmup_epochs=2, epochs=9), steps_per_epoch=7)
    values = [factor(step) for step in range(63)]
    assert values[:15] == sorted(values[:15])
    assert values[14:] == sorted(values[14:], reverse=True)


def test_constant_schedule_stays_at_the_peak() -> None:
    factor = learning_rate_factor(training(schedule="constant", warmup_epochs=0), steps_per_epoch=3)
    assert {factor(step) for step in range(9)} == {1.0}


def test_one_epoch_of_warm_up_only_is_no_division_by_zero() -> None:
    factor = learning_rate_factor(training(warmup_epochs=1, epochs=1), steps_per_epoch=1)
    assert factor(0) == pytest.approx(0.01)
    assert factor(1) == pytest.approx(1.0)


def test_marked_tensors_are_not_decayed() -> None:
    model = make_model("medmamba", strides=(4,))
    optimiser = make_optimiser(model, training())
    decayed, spared = optimiser.param_groups
    assert (decayed["weight_decay"], spared["weight_decay"]) == (0.1, 0.0)
    marked = model.no_weight_decay()  # pyright: ignore[reportCallIssue]
    expected = {id(p) for name, p in model.named_parameters() if name in marked}
    assert {id(p) for p in spared["params"]} == expected
    assert len(expected) == len(marked) > 0


def test_a_model_without_marks_has_one_group() -> None:
    optimiser = make_optimiser(make_model(), training(optimizer="adam", weight_decay=0.0))
    assert isinstance(optimiser, torch.optim.Adam)
    assert len(optimiser.param_groups) == 1
