"""Bootstrap intervals: known distributions, invariances, whole subjects, and no global randomness."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from bench.errors import RecordError, UsageError
from bench.stats import bootstrap
from bench.stats.bootstrap import PairedPredictions

SKLEARN = {"precision": precision_score, "recall": recall_score, "f1": f1_score}


def clustered_pair(n_subjects: int = 12, n_windows: int = 20, seed: int = 0) -> PairedPredictions:
    """Return two models of which the first is right on whole subjects, the second at random."""
    rng = np.random.default_rng(seed)
    subjects = np.repeat([f"sub-{number:03d}" for number in range(n_subjects)], n_windows)
    labels = rng.integers(0, 2, size=subjects.size)
    right = np.repeat(np.arange(n_subjects) % 3 > 0, n_windows)
    first = np.where(right, labels, 1 - labels)[None]
    second = rng.integers(0, 2, size=(2, subjects.size))
    return PairedPredictions(labels, subjects, first, second)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def draws(pair: PairedPredictions, seed: int = 0, n_resamples: int = 2000) -> np.ndarray:
    return bootstrap.draw_subjects(len(np.unique(pair.subjects)), rng(seed), n_resamples)


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
    options = {"labels": np.unique(truth), "average": "macro", "zero_division": 0}
    expected = SKLEARN[metric](truth, predicted, **options)
    assert bootstrap.CONFUSION_SCORES[metric](confusion)[0] == pytest.approx(float(expected))


def test_accuracy_of_confusions_is_sklearns() -> None:
    pair = clustered_pair()
    confusion = bootstrap.confusion_by_subject(pair.labels, pair.second, pair.subjects, 2).sum(axis=1)
    expected = [accuracy_score(pair.labels, predicted) for predicted in pair.second]
    np.testing.assert_allclose(bootstrap.CONFUSION_SCORES["accuracy"](confusion), expected)


def test_confusions_are_kept_per_subject() -> None:
    found = bootstrap.confusion_by_subject(
        np.array([0, 1, 1]), np.array([1, 1, 0]), np.array(["b", "a", "a"]), 2
    )
    np.testing.assert_array_equal(found, [[[[0, 0], [1, 1]], [[0, 1], [0, 0]]]])


def test_estimate_is_the_difference_of_the_seed_means() -> None:
    pair = clustered_pair()
    second = np.mean([accuracy_score(pair.labels, predicted) for predicted in pair.second])
    found = bootstrap.paired_difference(pair, "accuracy", draws(pair))
    assert found.estimate == pytest.approx(accuracy_score(pair.labels, pair.first[0]) - second)


def test_interval_of_two_subjects_spans_both() -> None:
    # The draws are aa, ab and bb with probabilities 1/4, 1/2, 1/4: the differences 1, 1/2 and 0.
    pair = PairedPredictions(
        labels=np.array([1, 1, 1, 1]),
        subjects=np.array(["a", "a", "b", "b"]),
        first=np.array([[1, 1, 1, 1]]),
        second=np.array([[0, 0, 1, 1]]),
    )
    found = bootstrap.paired_difference(pair, "accuracy", draws(pair))
    assert (found.estimate, found.low, found.high) == (0.5, 0, 1)


def test_interval_of_one_subject_has_no_width() -> None:
    pair = clustered_pair(n_subjects=1)
    found = bootstrap.paired_difference(pair, "f1", draws(pair, n_resamples=50))
    assert found.low == found.high == pytest.approx(found.estimate)


def test_swapping_the_models_mirrors_the_interval() -> None:
    pair = clustered_pair()
    swapped = PairedPredictions(pair.labels, pair.subjects, pair.second, pair.first)
    one = bootstrap.paired_difference(pair, "f1", draws(pair))
    other = bootstrap.paired_difference(swapped, "f1", draws(pair))
    assert (one.estimate, one.low, one.high) == pytest.approx((-other.estimate, -other.high, -other.low))


def test_equal_models_do_not_differ() -> None:
    pair = clustered_pair()
    same = PairedPredictions(pair.labels, pair.subjects, pair.first, pair.first)
    found = bootstrap.paired_difference(same, "recall", draws(same))
    assert (found.estimate, found.low, found.high, found.excludes_zero) == (0, 0, 0, False)


def test_whole_subjects_are_drawn() -> None:
    pair = clustered_pair()
    alone = PairedPredictions(pair.labels, np.arange(pair.labels.size), pair.first, pair.second)
    by_subject = bootstrap.paired_difference(pair, "accuracy", draws(pair))
    by_window = bootstrap.paired_difference(alone, "accuracy", draws(alone))
    assert by_subject.high - by_subject.low > 2 * (by_window.high - by_window.low)


def test_interval_of_a_score_is_that_of_windows_drawn_by_subject() -> None:
    pair = clustered_pair()
    by_subject = bootstrap.confusion_by_subject(pair.labels, pair.second, pair.subjects, 2)
    fast = bootstrap.score_interval(
        bootstrap.draw_confusions(by_subject, draws(pair, n_resamples=4000)), "accuracy"
    )
    names = np.unique(pair.subjects)
    right = (pair.second == pair.labels).mean(axis=0)
    means = [right[pair.subjects == name].mean() for name in names]  # all subjects have as many windows
    slow = np.mean(rng(1).choice(means, size=(4000, len(names))), axis=1)
    assert fast.estimate == pytest.approx(float(right.mean()))
    assert (fast.low, fast.high) == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.01)


def test_a_score_that_is_not_of_classes_is_refused() -> None:
    with pytest.raises(UsageError, match="auroc"):
        bootstrap.score_interval(bootstrap.draw_confusions(np.ones((1, 2, 2, 2)), np.ones((5, 2))), "auroc")


@pytest.mark.parametrize(("n_subjects", "few"), [(9, True), (10, False)])
def test_few_subjects_are_flagged(n_subjects: int, few: bool) -> None:
    pair = clustered_pair(n_subjects)
    found = bootstrap.paired_difference(pair, "accuracy", draws(pair, n_resamples=20))
    assert (found.n_units, found.few_units) == (n_subjects, few)


def test_an_equal_generator_gives_an_equal_interval() -> None:
    pair = clustered_pair()
    first, second = (bootstrap.paired_difference(pair, "f1", draws(pair, seed=3)) for _ in range(2))
    assert first == second


def test_numpys_global_state_is_neither_read_nor_moved() -> None:
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    pair = clustered_pair()
    bootstrap.paired_difference(pair, "f1", draws(pair))
    bootstrap.stratified_bootstrap(mean_of_runs, [np.ones((5, 6))], rng(), n_resamples=5)
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    np.testing.assert_equal(before, after)


def mean_of_runs(scores: np.ndarray) -> np.ndarray:
    """Return the mean over seeds and datasets of each draw."""
    return scores.mean(axis=(-2, -1))


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


def test_predictions_of_other_windows_are_refused() -> None:
    with pytest.raises(RecordError, match="'second' has 2 windows and 'labels' has 3"):
        PairedPredictions(np.zeros(3, int), np.zeros(3), np.zeros((1, 3), int), np.zeros((1, 2), int))


def test_an_unknown_score_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown score of predicted classes 'auroc'"):
        bootstrap.paired_difference(clustered_pair(), "auroc", np.ones((5, 12)))
