"""Logistic regression on raw windows: what it can tell, what it cannot, and that scale does not matter."""

import numpy as np
import pytest

from bench.estimators.contract import Labels, Windows, fit
from bench.estimators.linear import Linear

Task = tuple[Windows, Labels]


def test_levels_are_told_apart(task: Task) -> None:
    windows, labels = task
    logits = fit(Linear(), windows[:30], labels[:30], 3).logits(windows[30:])
    assert (logits.argmax(axis=1) == labels[30:]).mean() > 0.9


def test_the_scale_of_a_channel_does_not_matter(task: Task) -> None:
    windows, labels = task
    scaled = windows * np.array([1e-6, 1e3], np.float32)[:, None]
    np.testing.assert_allclose(
        fit(Linear(), scaled, labels, 3).logits(scaled),
        fit(Linear(), windows, labels, 3).logits(windows),
        atol=0.02,
    )


def test_a_rhythm_at_any_phase_is_out_of_its_reach() -> None:
    generator = np.random.default_rng(0)
    labels = np.arange(400) % 2
    cycles = np.where(labels, 6, 3)[:, None, None] * np.arange(32) / 32
    windows = np.sin(2 * np.pi * (cycles + generator.uniform(size=(400, 1, 1)))).astype(np.float32)
    logits = fit(Linear(), windows[:200], labels[:200], 2).logits(windows[200:])
    assert (logits.argmax(axis=1) == labels[200:]).mean() < 0.65


@pytest.mark.parametrize(("inverse_penalty", "below"), [(1e-6, 0.01), (1.0, 10.0)])
def test_the_penalty_shrinks_weights(task: Task, inverse_penalty: float, below: float) -> None:
    model = fit(Linear(inverse_penalty=inverse_penalty), *task, 3).estimator
    largest = np.abs(model.pipeline_[-1].coef_).max()
    assert below / 1000 < largest < below
