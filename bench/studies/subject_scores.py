"""Scores beyond windows: votes of each subject's windows, calibration, and accuracy subject by subject.

A vote gives each subject one class: the `majority` of the predicted classes of its windows (a tie goes to the class
with the larger mean probability), or the largest `mean probability`. Votes exist only where every subject has
one true class. Calibration error is the expected one over 15 equal bins of confidence (Guo et al., On calibration
of modern neural networks, ICML 2017). Balanced accuracy is the mean recall of the classes present.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.results.predictions import Predictions
from bench.stats.bootstrap import CONFUSION_SCORES

N_BINS = 15

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Grouping:
    """The subject of each test window.

    `names` (n_subjects,) in sorted order, `codes` (n_windows,) positions in it, `windows` (n_subjects,) counts;
    `label` (n_subjects,) is the true class of each, or None if a subject has windows of several classes.
    """

    names: NDArray[np.str_]
    codes: NDArray[np.intp]
    windows: NDArray[np.intp]
    label: NDArray[np.intp] | None


def group_windows(predictions: Predictions) -> Grouping:
    """Gather the test windows by subject."""
    names, codes = np.unique(predictions.subject, return_inverse=True)
    truth = np.zeros((len(names), predictions.logits.shape[1]), dtype=bool)
    truth[codes, predictions.label] = True
    one_class = (truth.sum(axis=1) == 1).all()
    return Grouping(names, codes, np.bincount(codes), truth.argmax(axis=1) if one_class else None)


@dataclass(frozen=True)
class Votes:
    """Results of one cell subject by subject, each (n_subjects,).

    `accuracy` is the share of a subject's windows classified right; `majority` and `mean_probability` are the classes
    that its windows vote for by the two rules.
    """

    accuracy: Floats
    majority: NDArray[np.intp]
    mean_probability: NDArray[np.intp]


def vote(predictions: Predictions, grouping: Grouping) -> Votes:
    """Let the windows of each subject vote."""
    n_subjects, n_classes = len(grouping.names), predictions.logits.shape[1]
    right = predictions.predicted == predictions.label
    mean = _sums(grouping.codes, predictions.probability, n_subjects) / grouping.windows[:, None]
    votes = np.bincount(grouping.codes * n_classes + predictions.predicted, minlength=n_subjects * n_classes)
    # Mean probabilities lie within [0, 1], so adding half of them decides ties of whole votes and nothing else.
    majority = (votes.reshape(n_subjects, n_classes) + mean / 2).argmax(axis=1)
    accuracy = np.bincount(grouping.codes, weights=right) / grouping.windows
    return Votes(accuracy, majority, mean.argmax(axis=1))


def confusion(label: NDArray[np.integer], predicted: NDArray[np.integer], n_classes: int) -> NDArray[np.intp]:
    """Return counts (n_classes, n_classes), rows true, columns predicted."""
    counts = np.bincount(label * n_classes + predicted, minlength=n_classes * n_classes)
    return counts.reshape(n_classes, n_classes)


def confusion_score(matrix: NDArray[np.integer], metric: str) -> float:
    """Return accuracy, precision, recall (balanced accuracy) or f1 of a confusion matrix."""
    return float(CONFUSION_SCORES[metric](matrix.astype(float)))


@dataclass(frozen=True)
class Reliability:
    """Confidence against accuracy in equal bins: share of the windows, mean confidence, accuracy, each (n_bins,).

    An empty bin has 0 in all three.
    """

    share: Floats
    confidence: Floats
    accuracy: Floats

    @property
    def calibration_error(self) -> float:
        """Expected calibration error, a fraction of one."""
        return float((self.share * np.abs(self.confidence - self.accuracy)).sum())


def reliability(predictions: Predictions, n_bins: int = N_BINS) -> Reliability:
    """Bin the windows by the probability of the predicted class."""
    confidence = predictions.probability.max(axis=1)
    right = predictions.predicted == predictions.label
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    divisor = np.maximum(counts, 1)
    return Reliability(
        share=counts / len(confidence),
        confidence=np.bincount(bins, weights=confidence, minlength=n_bins) / divisor,
        accuracy=np.bincount(bins, weights=right, minlength=n_bins) / divisor,
    )


def _sums(codes: NDArray[np.intp], values: Floats, n_groups: int) -> Floats:
    """Return the sum of the rows of each group, (n_groups, n_columns)."""
    sums = np.empty((n_groups, values.shape[1]))
    for column in range(values.shape[1]):
        sums[:, column] = np.bincount(codes, weights=values[:, column], minlength=n_groups)
    return sums
