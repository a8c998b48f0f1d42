"""Bootstrap intervals: known distributions, invariances, whole subjects, and no global randomness."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from bench.stats import bootstrap

SKLEARN = {"accuracy": accuracy_score, "precision": precision_score, "recall": recall_score, "f1": f1_score}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@settings(max_examples=30, deadline=None)
@given(
    labels=st.lists(st.integers(0, 3), min_size=1, max_size=30),
    seed=st.integers(0, 2**32 - 1),
    metric=st.sampled_from(sorted(SKLEARN)),
)
def test_scores_of_confusions_are_sklearns_over_the_classes_present(
    labels: list[int], seed: int, metric: str
) -> None:
    truth = np.array(labels)
    predicted = np.random.default_rng(seed).integers(0, 4, size=truth.size)
    confusion = bootstrap.confusion_by_subject(truth, predicted, truth % 2, 4).sum(axis=1)
    macro = {"labels": np.unique(truth), "average": "macro", "zero_division": 0}
    options = {} if metric == "accuracy" else macro
    expected = SKLEARN[metric](truth, predicted, **options)
    assert bootstrap.CONFUSION_SCORES[metric](confusion)[0] == pytest.approx(float(expected))


def test_confusions_are_kept_per_subject() -> None:
    found = bootstrap.confusion_by_subject(
        np.array([0, 1, 1]), np.array([1, 1, 0]), np.array(["b", "a", "a"]), 2
    )
    np.testing.assert_array_equal(found, [[[[0, 0], [1, 1]], [[0, 1], [0, 0]]]])


def test_numpys_global_state_is_neither_read_nor_moved() -> None:
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    bootstrap.draw_subjects(12, rng(), 5)
    bootstrap.stratified_bootstrap(mean_of_runs, [np.ones((5, 6))], rng(), n_resamples=5)
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    np.testing.assert_equal(before, after)


def mean_of_runs(scores: np.ndarray) -> np.ndarray:
    """Return the mean over seeds and datasets of each draw."""
    return scores.mean(axis=(-2, -1))


def test_subjects_are_drawn_with_replacement() -> None:
    drawn = bootstrap.draw_subjects(4, rng(), 2000)
    assert (drawn.sum(axis=1) == 4).all()
    # Each subject is left out of a draw with probability (3/4)^4.
    np.testing.assert_allclose((drawn == 0).mean(axis=0), 0.75**4, atol=0.04)


def test_seeds_are_drawn_within_their_dataset() -> None:
    runs = np.arange(5.0)[:, None] + 10 * np.arange(6.0)[None, :]
    asked: list[np.ndarray] = []

    def keep(scores: np.ndarray) -> np.ndarray:
        asked.append(scores)
        return mean_of_runs(scores)

    bootstrap.stratified_bootstrap(keep, [runs], rng(), n_resamples=20)
    drawn = np.concatenate([scores for scores in asked if scores.ndim == 3])
    assert drawn.shape == (20, 5, 6)
    assert (drawn // 10 == np.arange(6)).all()
    assert (drawn % 10 != drawn[..., :1] % 10).any()


def test_stratified_interval_of_constant_datasets_has_no_width() -> None:
    runs = np.tile(np.arange(6.0), (5, 1))
    found = bootstrap.stratified_bootstrap(mean_of_runs, [runs], rng(), n_resamples=50)
    assert (found.low, found.estimate, found.high) == (2.5, 2.5, 2.5)


def test_stratified_interval_covers_the_standard_error_of_the_mean() -> None:
    runs = rng(5).normal(size=(40, 6))
    found = bootstrap.stratified_bootstrap(mean_of_runs, [runs], rng(), n_resamples=2000)
    expected = 1.96 * np.sqrt(runs.var(axis=0).sum() / 40) / 6
    assert (found.high - found.low) / 2 == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("n_units", "n_draws"), [(1, 1), (4, 35), (5, 126)])
def test_distinct_draws(n_units: int, n_draws: int) -> None:
    assert bootstrap.distinct_draws(n_units) == n_draws
