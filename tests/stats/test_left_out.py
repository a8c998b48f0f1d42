"""Scores without each subject against scores of what is left, within strata, and what cannot be left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from bench.stats.bootstrap import CONFUSION_SCORES
from bench.stats.left_out import LeftOut, auroc_left_out, score_left_out
from bench.stats.unknowable import FewSubjectsError, LoneSubjectError, OneClassError

accuracy = CONFUSION_SCORES["accuracy"]


def mixed_subjects(seed: int = 0, n_subjects: int = 6) -> np.ndarray:
    """Return confusion matrices (2, n_subjects, 3, 3) of subjects who have windows of all classes."""
    return np.random.default_rng(seed).integers(1, 9, size=(2, n_subjects, 3, 3)).astype(float)


def one_class_subjects(
    per_class: tuple[int, ...] = (3, 2), hits: tuple[float, ...] = (9, 6, 3, 8, 2)
) -> np.ndarray:
    """Return confusion matrices (1, n_subjects, 2, 2) of subjects with ten windows of one class."""
    found = np.zeros((1, len(hits), 2, 2))
    for subject, (label, hit) in enumerate(zip(np.repeat([0, 1], per_class), hits, strict=True)):
        found[0, subject, label, label], found[0, subject, label, 1 - label] = hit, 10 - hit
    return found


@pytest.mark.parametrize("metric", sorted(CONFUSION_SCORES))
def test_scores_are_those_of_the_subjects_that_are_left(metric: str) -> None:
    by_subject, score = mixed_subjects(), CONFUSION_SCORES[metric]
    found = score_left_out(by_subject, score)
    rest = [score(np.delete(by_subject, subject, axis=1).sum(axis=1)) for subject in range(6)]
    np.testing.assert_allclose(found.scores, score(by_subject.sum(axis=1)))
    np.testing.assert_allclose(found.without, np.transpose(rest))
    assert not found.strata.any()


def test_within_a_class_the_others_stand_in() -> None:
    # Without the first subject its class has 6 and 3 hits of 20, counted as 30 windows; the other class stays.
    found = score_left_out(one_class_subjects(), accuracy)
    assert found.strata.tolist() == [0, 0, 0, 1, 1]
    assert found.without[0, 0] == pytest.approx((9 * 1.5 + 10) / 50)
    assert found.without[0, 3] == pytest.approx((18 + 2 * 2) / 50)


def test_a_class_that_only_one_subject_is_taken_for_is_never_predicted_without_it() -> None:
    by_subject = np.zeros((1, 8, 3, 3))
    by_subject[0, :3, 0, 0], by_subject[0, 3:6, 1, 1], by_subject[0, 6:, 2, 1] = 7, 3, 5
    by_subject[0, 0, 0] = 4, 0, 3
    found = score_left_out(by_subject, lambda confusion: confusion.sum(axis=-2)[..., 2])
    assert found.without[0, 0] == 0
    assert found.without[0, 1] == pytest.approx(3 * 3 / 2)


def test_variance_of_a_mean_over_subjects_is_the_textbooks() -> None:
    values = np.array([0.9, 0.6, 0.3, 0.8, 0.2])
    without = (values.sum() - values) / 4
    deviations = LeftOut(np.array([values.mean()]), without[None], np.zeros(5, dtype=int)).deviations
    assert (deviations**2).sum() == pytest.approx(values.var(ddof=1) / 5)


def test_variance_within_classes_is_that_of_stratified_sampling() -> None:
    deviations = score_left_out(one_class_subjects(), accuracy).deviations
    within = [np.var([0.9, 0.6, 0.3], ddof=1) / 3, np.var([0.8, 0.2], ddof=1) / 2]
    assert (deviations**2).sum() == pytest.approx(0.6**2 * within[0] + 0.4**2 * within[1])


def macro_auroc(labels: np.ndarray, probability: np.ndarray, weights: np.ndarray) -> float:
    """Return scikit-learn's AUROC, one against the rest, averaged over the classes."""
    each = [
        roc_auc_score(labels == label, probability[:, label], sample_weight=weights)
        for label in np.unique(labels)
    ]
    return float(np.mean(each))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), n_levels=st.sampled_from([3, 1000]), one_class=st.booleans())
def test_auroc_is_scikit_learns_of_the_subjects_that_are_left(
    seed: int, n_levels: int, one_class: bool
) -> None:
    rng = np.random.default_rng(seed)
    subjects = rng.permutation(np.repeat(np.arange(6), 10))
    labels = subjects % 3 if one_class else rng.integers(3, size=subjects.size)
    probability = rng.integers(n_levels, size=(2, subjects.size, 3)).astype(float)
    found = auroc_left_out(labels, np.array([f"sub-{code}" for code in subjects]), probability)
    sizes = np.bincount(np.arange(6) % 3)

    def weights(left_out: int) -> np.ndarray:
        stands_in = one_class & (subjects % 3 == left_out % 3)
        size = sizes[left_out % 3]
        return np.where(subjects == left_out, 0.0, np.where(stands_in, size / (size - 1), 1.0))

    np.testing.assert_allclose(found.scores, [macro_auroc(labels, seen, np.ones(60)) for seen in probability])
    expected = [[macro_auroc(labels, seen, weights(subject)) for subject in range(6)] for seen in probability]
    np.testing.assert_allclose(found.without, expected)


def test_a_single_subject_cannot_be_left_out() -> None:
    with pytest.raises(FewSubjectsError, match="no interval from 1 test subject"):
        score_left_out(mixed_subjects(n_subjects=1), accuracy)
    with pytest.raises(FewSubjectsError, match="no interval from 1 test subject"):
        auroc_left_out(np.array([0, 1]), np.array(["a", "a"]), np.ones((1, 2, 2)))


def test_the_only_subject_of_a_class_cannot_be_left_out() -> None:
    with pytest.raises(LoneSubjectError, match="all test windows of class 1 are of one subject"):
        score_left_out(one_class_subjects((4, 1)), accuracy)
    with pytest.raises(LoneSubjectError, match="all test windows of class 1 are of one subject"):
        auroc_left_out(np.array([0, 0, 1]), np.array(["a", "b", "c"]), np.ones((1, 3, 2)))


def test_one_class_alone_is_not_ranked() -> None:
    with pytest.raises(OneClassError, match="of one class"):
        auroc_left_out(np.array([1, 1]), np.array(["a", "b"]), np.ones((1, 2, 2)))
