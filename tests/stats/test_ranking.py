"""AUROC under weights against scikit-learn and by hand; its paired interval over subjects."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from bench.stats.bootstrap import draw_subjects
from bench.stats.ranking import macro_auroc, paired_auroc_difference, rank_pairs


def test_auroc_by_hand_with_a_tie() -> None:
    # The window of the class is above one other, ties with one and is below one.
    scores, truth = np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, True, False, False])
    pairs = rank_pairs(scores, truth, np.zeros(4, dtype=int))
    assert pairs.won == pytest.approx(np.array([[1.5]]))
    assert pairs.auroc(np.ones(1)) == pytest.approx(1.5 / 3)


@given(st.integers(0, 10_000), st.sampled_from([1, 7, 130]))
def test_weights_count_as_repetitions_of_subjects(seed: int, n_subjects: int) -> None:
    rng = np.random.default_rng(seed)
    subjects = np.r_[np.arange(n_subjects), rng.integers(n_subjects, size=20)]
    n_windows = len(subjects)
    scores = rng.integers(0, 5, size=n_windows).astype(float)
    truth = np.arange(n_windows) % 3 == 0
    weights = rng.integers(1, 4, size=n_subjects).astype(float)
    times = weights[subjects].astype(int)
    expected = roc_auc_score(np.repeat(truth, times), np.repeat(scores, times))
    assert rank_pairs(scores, truth, subjects).auroc(weights) == pytest.approx(expected)


def test_draw_without_the_class_has_no_auroc() -> None:
    pairs = rank_pairs(np.array([0.1, 0.9]), np.array([False, True]), np.array([0, 1]))
    found = pairs.auroc(np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert np.isnan(found[0])
    assert found[1] == 1


def test_macro_is_the_mean_over_classes() -> None:
    scores, truth, subjects = (
        np.array([0.1, 0.5, 0.9]),
        np.array([False, True, False]),
        np.zeros(3, dtype=int),
    )
    half, whole = rank_pairs(scores, truth, subjects), rank_pairs(truth.astype(float), truth, subjects)
    assert macro_auroc([half, whole], np.ones(1)) == pytest.approx(0.75)


def test_classes_without_windows_are_left_out() -> None:
    perfect = np.array([[[0.8, 0.2, 0.0], [0.3, 0.7, 0.0]]])
    found = paired_auroc_difference(
        np.array([0, 1]), np.array([0, 1]), perfect, perfect[:, ::-1], np.ones((1, 2))
    )
    assert found.estimate == 1


def predictions(quality: float, seed: int) -> np.ndarray:
    """Return probabilities (2 seeds, 120 windows, 2 classes) that know the label the better the higher the quality."""
    rng = np.random.default_rng(seed)
    signal = quality * (np.arange(120) % 2)[None] + rng.normal(size=(2, 120))
    share = 1 / (1 + np.exp(-signal))
    return np.stack([1 - share, share], axis=2)


def test_better_model_has_an_interval_above_zero() -> None:
    labels, subjects = np.arange(120) % 2, np.repeat(np.arange(12), 10)
    found = paired_auroc_difference(
        labels, subjects, predictions(3, 0), predictions(0, 1), draw_subjects(12, np.random.default_rng(0))
    )
    assert found.low > 0
    assert found.low < found.estimate < found.high
    assert found.n_units == 12


def test_model_does_not_differ_from_itself() -> None:
    labels, subjects = np.arange(120) % 2, np.repeat(np.arange(12), 10)
    same = predictions(1, 0)
    found = paired_auroc_difference(labels, subjects, same, same, draw_subjects(12, np.random.default_rng(0)))
    assert (found.estimate, found.low, found.high) == (0, 0, 0)
