"""AUROC under weights against scikit-learn and by hand; its paired interval over subjects."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from bench.results.ranking import macro_auroc, paired_auroc_difference, weighted_auroc


def test_auroc_by_hand_with_a_tie() -> None:
    # The window of the class is above one other, ties with one and is below one.
    scores, truth = np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, True, False, False])
    assert weighted_auroc(scores, truth, np.ones((1, 4))) == pytest.approx([1.5 / 3])


@given(st.integers(0, 10_000))
def test_weights_count_as_repetitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, truth = rng.integers(0, 5, size=20).astype(float), np.arange(20) % 3 == 0
    weights = rng.integers(0, 4, size=20)
    weights[:2] = 1
    expected = roc_auc_score(np.repeat(truth, weights), np.repeat(scores, weights))
    assert weighted_auroc(scores, truth, weights[None].astype(float)) == pytest.approx([expected])


def test_draw_without_the_class_has_no_auroc() -> None:
    found = weighted_auroc(np.array([0.1, 0.9]), np.array([False, True]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert np.isnan(found[0])
    assert found[1] == 1


def test_macro_leaves_out_classes_without_windows() -> None:
    probability = np.array([[0.8, 0.2, 0.0], [0.3, 0.7, 0.0]])
    assert macro_auroc(probability, np.array([0, 1]), np.ones((1, 2))) == pytest.approx([1])


def predictions(quality: float, seed: int) -> np.ndarray:
    """Return probabilities (2 seeds, 120 windows, 2 classes) that know the label the better the higher the quality."""
    rng = np.random.default_rng(seed)
    signal = quality * (np.arange(120) % 2)[None] + rng.normal(size=(2, 120))
    share = 1 / (1 + np.exp(-signal))
    return np.stack([1 - share, share], axis=2)


def test_better_model_has_an_interval_above_zero() -> None:
    labels, subjects = np.arange(120) % 2, np.repeat(np.arange(12), 10)
    found = paired_auroc_difference(
        labels, subjects, predictions(3, 0), predictions(0, 1), np.random.default_rng(0)
    )
    assert found.low > 0
    assert found.low < found.estimate < found.high
    assert found.n_units == 12


def test_model_does_not_differ_from_itself() -> None:
    labels, subjects = np.arange(120) % 2, np.repeat(np.arange(12), 10)
    same = predictions(1, 0)
    found = paired_auroc_difference(labels, subjects, same, same, np.random.default_rng(0))
    assert (found.estimate, found.low, found.high) == (0, 0, 0)
