"""One-vs-rest AUROC under weights of subjects, and its paired difference with an interval over test subjects.

Source: Hanley and McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, 1982:
the probability that a window of the class is ranked above one that is not, ties counted as half. Such pairs of windows
are counted once for each pair of subjects; every draw of subjects then weighs the same counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.stats.bootstrap import Interval, over_subjects

Floats = NDArray[np.float64]

_SUBJECTS_AT_ONCE = 64


@dataclass(frozen=True)
class RankedPairs:
    """Pairs of a window of a class and a window of another class, counted by subjects.

    Attributes
    ----------
    won
        Pairs in which the window of the class has the higher score, ties as half: (n_subjects, n_subjects), rows the
        subject of the window of the class, columns that of the other.
    of_class, of_others
        Windows of each subject, (n_subjects,).
    """

    won: Floats
    of_class: Floats
    of_others: Floats

    def auroc(self, weights: Floats) -> Floats:
        """Return the AUROC with each subject counted as often as its weight.

        Parameters
        ----------
        weights
            ``(..., n_subjects)``, not negative.

        Returns
        -------
        NDArray[np.float64]
            ``(...)``; NaN for weights that leave no window of the class, or none of other classes.
        """
        won = np.sum(weights @ self.won * weights, axis=-1)
        pairs = (weights @ self.of_class) * (weights @ self.of_others)
        return np.divide(won, pairs, out=np.full(np.shape(pairs), np.nan), where=pairs > 0)


def rank_pairs(scores: Floats, truth: NDArray[np.bool_], subjects: NDArray[np.integer]) -> RankedPairs:
    """Count the pairs of windows.

    Parameters
    ----------
    scores, truth, subjects
        ``(n_windows,)``: the class's score, whether the window is of the class, and its subject's number from 0.
    """
    from scipy.sparse import csr_array

    n_subjects = int(subjects.max()) + 1
    level = np.unique(scores, return_inverse=True)[1]
    n_levels = int(level.max()) + 1
    of_class = csr_array(
        (np.ones(truth.sum()), (subjects[truth], level[truth])), shape=(n_subjects, n_levels)
    )
    won = np.empty((n_subjects, n_subjects))
    for start in range(0, n_subjects, _SUBJECTS_AT_ONCE):
        chosen = ~truth & (subjects >= start) & (subjects < start + _SUBJECTS_AT_ONCE)
        others = np.zeros((n_levels, min(_SUBJECTS_AT_ONCE, n_subjects - start)))
        np.add.at(others, (level[chosen], subjects[chosen] - start), 1)
        won[:, start : start + _SUBJECTS_AT_ONCE] = of_class @ (np.cumsum(others, axis=0) - others / 2)
    counts = (np.bincount(subjects[mask], minlength=n_subjects).astype(float) for mask in (truth, ~truth))
    return RankedPairs(won, *counts)


def macro_auroc(classes: Sequence[RankedPairs], weights: Floats) -> Floats:
    """Return the mean AUROC over classes, ``(...)``; weights that leave a class without windows give NaN."""
    return np.mean([class_name.auroc(weights) for class_name in classes], axis=0)


def paired_auroc_difference(
    labels: NDArray[np.integer],
    subjects: NDArray,
    first: Floats,
    second: Floats,
    draws: Floats,
    level: float = 0.95,
) -> Interval:
    """Return macro AUROC(first) - AUROC(second), averaged over seeds, with an interval over test subjects.

    Classes are those with windows. Draws without some class are left out of the interval and of its ``n_resamples``.

    Parameters
    ----------
    labels, subjects
        ``(n_windows,)``.
    first, second
        Probabilities ``(n_seeds, n_windows, n_classes)`` of two models on the same windows.
    draws, level
        The result of `draw_subjects`; mass inside the interval.
    """
    codes = np.unique(subjects, return_inverse=True)[1]
    ranked = [
        [
            [rank_pairs(seed[:, number], labels == number, codes) for number in np.unique(labels)]
            for seed in probability
        ]
        for probability in (first, second)
    ]

    def difference(weights: Floats) -> Floats:
        mine, other = (
            np.mean([macro_auroc(classes, weights) for classes in model], axis=0) for model in ranked
        )
        return mine - other

    return over_subjects(difference, draws, level)
