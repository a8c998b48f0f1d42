"""Scores of predictions: scikit-learn's, per class, over the classes present."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from bench.results.record import ClassScores, Scores

# scikit-learn declares the argument's default, a text, as its type.
UNDEFINED_IS_ZERO: Any = 0


class DivergedError(Exception):
    """A loss or a logit is not a finite number."""


def score(
    logits: NDArray[np.floating],
    labels: NDArray[np.int64],
    subject: NDArray[np.str_],
    class_names: Sequence[str],
) -> Scores:
    """Score the logits ``(n, n_classes)`` of one part.

    Precision and recall of a class that is never predicted are 0. A class without a window in the truth is left
    out of every mean and named in ``absent_classes``; a class with all the windows cannot be ranked, so its AUROC
    and AUPRC are None and left out of those means.

    Raises
    ------
    DivergedError
        A logit is not finite.
    """
    log_probability = _log_probability(logits)
    predicted, present = logits.argmax(axis=1), np.unique(labels)
    per_class: dict[str, ClassScores] = {
        class_names[int(label)]: _class_scores(labels == label, predicted == label, log_probability[:, label])
        for label in present
    }
    classes = list(per_class.values())
    return Scores(
        accuracy=float(np.mean(predicted == labels)),
        precision=float(np.mean([class_name.precision for class_name in classes])),
        recall=float(np.mean([class_name.recall for class_name in classes])),
        f1=float(np.mean([class_name.f1 for class_name in classes])),
        auroc=_mean_of_known([class_name.auroc for class_name in classes]),
        auprc=_mean_of_known([class_name.auprc for class_name in classes]),
        loss=mean_loss(logits, labels),
        n_windows=len(labels),
        n_subjects=len(np.unique(subject)),
        absent_classes=tuple(name for label, name in enumerate(class_names) if label not in present),
        per_class=per_class,
    )


def macro_f1(logits: NDArray[np.floating], labels: NDArray[np.int64]) -> float:
    """Return the mean F1 of the classes present, a fraction of one.

    Raises
    ------
    DivergedError
        A logit is not finite.
    """
    _require_finite(logits)
    predicted = logits.argmax(axis=1)
    present = np.unique(labels)
    return float(
        f1_score(labels, predicted, labels=present, average="macro", zero_division=UNDEFINED_IS_ZERO)
    )


def mean_loss(logits: NDArray[np.floating], labels: NDArray[np.int64]) -> float:
    """Return the mean cross-entropy in nats, without label smoothing."""
    return float(-np.mean(_log_probability(logits)[np.arange(len(labels)), labels]))


def _require_finite(logits: NDArray[np.floating]) -> None:
    if not np.isfinite(logits).all():
        n_bad = np.count_nonzero(~np.isfinite(logits))
        raise DivergedError(f"{n_bad} of {logits.size} logits are not finite")


def _log_probability(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    _require_finite(logits)
    return log_softmax(logits.astype(np.float64), axis=1)


def _class_scores(
    truth: NDArray[np.bool_], predicted: NDArray[np.bool_], log_probability: NDArray[np.float64]
) -> ClassScores:
    """Score one class against the rest."""
    rankable = not truth.all()
    return ClassScores(
        precision=float(precision_score(truth, predicted, zero_division=UNDEFINED_IS_ZERO)),
        recall=float(recall_score(truth, predicted)),
        f1=float(f1_score(truth, predicted)),
        auroc=float(roc_auc_score(truth, log_probability)) if rankable else None,
        auprc=float(average_precision_score(truth, log_probability)) if rankable else None,
        support=int(truth.sum()),
    )


def _mean_of_known(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
