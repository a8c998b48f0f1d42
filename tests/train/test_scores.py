"""Scores: hand values, absent classes, invariances, and no number out of nothing."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from bench.train.scores import DivergedError, macro_f1, mean_loss, score

NAMES = ("a", "b", "c")
PERSON = np.array(["p"] * 6)
LABELS = np.array([0, 0, 0, 1, 1, 2])


def logits_for(predicted: list[int]) -> np.ndarray:
    return np.eye(3)[predicted] * 4


def test_hand_values() -> None:
    scores = score(logits_for([0, 0, 1, 1, 2, 2]), LABELS, PERSON, NAMES)
    assert scores.accuracy == pytest.approx(4 / 6)
    assert scores.precision == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert scores.recall == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert scores.f1 == pytest.approx((4 / 5 + 1 / 2 + 2 / 3) / 3)
    assert scores.per_class["a"].support == 3


def test_a_class_never_predicted_scores_zero() -> None:
    scores = score(logits_for([0, 0, 0, 0, 0, 0]), LABELS, PERSON, NAMES)
    assert (scores.per_class["b"].precision, scores.per_class["b"].f1) == (0.0, 0.0)


def test_an_absent_class_is_left_out_and_named() -> None:
    scores = score(logits_for([0, 0, 1, 1, 1, 0]), np.array([0, 0, 0, 1, 1, 1]), PERSON, NAMES)
    assert scores.absent_classes == ("c",)
    assert scores.recall == pytest.approx(2 / 3)
    assert scores.auroc is not None


def test_a_single_class_cannot_be_ranked() -> None:
    scores = score(logits_for([0] * 6), np.zeros(6, dtype=int), PERSON, NAMES)
    assert (scores.auroc, scores.auprc) == (None, None)


def test_logits_that_are_not_finite_are_refused() -> None:
    logits = logits_for([0] * 6)
    logits[2, 1] = np.inf
    with pytest.raises(DivergedError, match="1 of 18 logits are not finite"):
        score(logits, LABELS, PERSON, NAMES)


def test_loss_is_the_mean_cross_entropy() -> None:
    assert mean_loss(np.zeros((6, 3)), LABELS) == pytest.approx(np.log(3))


predictions = hnp.arrays(np.float64, (24, 3), elements=st.floats(-4, 4, width=32))
truths = hnp.arrays(np.int64, 24, elements=st.integers(0, 2))


@given(predictions, truths, st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_order(logits: np.ndarray, labels: np.ndarray, random: object) -> None:
    order = np.random.default_rng(random.randint(0, 999)).permutation(24)  # type: ignore[attr-defined]
    people = np.array(list("abcdefgh") * 3)
    one, other = (score(logits[o], labels[o], people[o], NAMES) for o in (slice(None), order))
    for metric in ("accuracy", "precision", "recall", "f1", "auroc", "auprc", "loss"):
        assert getattr(one, metric) == pytest.approx(getattr(other, metric), abs=1e-12)


@given(predictions, hnp.arrays(np.int64, 24, elements=st.integers(0, 1)))
def test_epochs_are_chosen_by_the_f1_that_is_reported(logits: np.ndarray, labels: np.ndarray) -> None:
    """Also where the third class is predicted and never true."""
    reported = score(logits, labels, np.array(["p"] * 24), NAMES).f1
    assert macro_f1(logits, labels) == pytest.approx(reported, abs=1e-12)


@given(predictions, truths, st.floats(-50, 50))
def test_scores_do_not_depend_on_a_common_offset(
    logits: np.ndarray, labels: np.ndarray, offset: float
) -> None:
    rounded = np.round(logits, 1)
    shifted = np.round(rounded + round(offset, 1), 1)
    people = np.array(["p"] * 24)
    assert score(rounded, labels, people, NAMES).f1 == score(shifted, labels, people, NAMES).f1


# Tenths and a little more, another for each logit: no two probabilities are so near that rounding alone decides
# whether they are a tie.
NUDGE = 1e-5 * np.arange(72.0).reshape(24, 3) ** 2
tenths = hnp.arrays(np.int64, (24, 3), elements=st.integers(-40, 40))


@given(tenths, truths)
def test_agrees_with_scikit_learn_where_all_classes_are_present(
    tenths: np.ndarray, labels: np.ndarray
) -> None:
    logits = tenths / 10 + NUDGE
    labels[:3] = [0, 1, 2]
    scores = score(logits, labels, np.array(["p"] * 24), NAMES)
    predicted = logits.argmax(1)
    probability = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    macro: dict[str, Any] = {"average": "macro", "labels": [0, 1, 2], "zero_division": 0}
    expected = {
        "accuracy": np.mean(predicted == labels),
        "precision": precision_score(labels, predicted, **macro),
        "recall": recall_score(labels, predicted, **macro),
        "f1": f1_score(labels, predicted, **macro),
        "auroc": roc_auc_score(labels, probability, multi_class="ovr"),
        "auprc": average_precision_score(np.eye(3)[labels], probability, average="macro"),
    }
    assert {name: getattr(scores, name) for name in expected} == pytest.approx(expected, abs=1e-12)
    assert scores.f1 == pytest.approx(macro_f1(logits, labels))


def test_hand_values_of_the_ranking_scores() -> None:
    # By the probability of b its windows come first and third, an a between them; the only c comes first for c.
    ranking = np.array([[3, 0, 0], [2, 0, 0], [0, 2, 0], [0, 3, 0], [1, 1, 0], [0, 0, 1]], dtype=float)
    scores = score(ranking, LABELS, PERSON, NAMES)
    assert scores.per_class["c"].auroc == 1.0
    assert scores.per_class["c"].auprc == 1.0
    assert scores.per_class["b"].auprc == pytest.approx((1 + 2 / 3) / 2)
    assert scores.per_class["b"].auroc == pytest.approx(7 / 8)
