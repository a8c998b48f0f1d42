"""The dummy tells proportions, and nothing of the windows."""

import numpy as np

from bench.estimators.contract import fit
from bench.estimators.dummy import Dummy


def test_proportions_of_the_training_windows() -> None:
    windows = np.random.default_rng(0).normal(size=(8, 2, 5)).astype(np.float32)
    model = fit(Dummy(), windows, np.array([0, 0, 0, 0, 0, 3, 3, 0]), 4)
    logits = model.logits(windows[:3] + 1)
    np.testing.assert_allclose(np.exp(logits), [[0.75, 0, 0, 0.25]] * 3, atol=1e-6)
    np.testing.assert_array_equal(model.estimator.predict(windows), np.zeros(8))
