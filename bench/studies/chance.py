"""Scores without looking at the signal: of always guessing the most frequent class, and of a proportional guess.

Scores are by metric, macro over the classes present. Both guesses know the test split's class shares, so they
are the best such scores.
"""

from collections.abc import Mapping, Sequence

import numpy as np

ChanceScores = Mapping[str, float]
"""Metric -> score as a fraction of one; undefined scores are absent."""


def majority_scores(windows_per_class: Sequence[int]) -> ChanceScores:
    """Return the scores of always answering with the most frequent class.

    That class has precision ``p``, recall 1 and F1 ``2p / (1 + p)``, ``p`` its share; the others have zeros.
    """
    share = _shares(windows_per_class)
    p, n_present = float(share.max()), len(share)
    return {
        "accuracy": p,
        "precision": p / n_present,
        "recall": 1 / n_present,
        "f1": 2 * p / (1 + p) / n_present,
        **_ranking(share),
    }


def stratified_scores(windows_per_class: Sequence[int]) -> ChanceScores:
    """Return the expected scores of guessing each class with a probability equal to its share.

    Every class has precision, recall and F1 equal to its share (exact in the limit of many windows).
    """
    share = _shares(windows_per_class)
    expected = float(np.mean(share))
    return {
        "accuracy": float(np.sum(share**2)),
        **dict.fromkeys(("precision", "recall", "f1"), expected),
        **_ranking(share),
    }


def _shares(windows_per_class: Sequence[int]) -> np.ndarray:
    counts = np.array([n_windows for n_windows in windows_per_class if n_windows > 0], dtype=float)
    return counts / counts.sum()


def _ranking(share: np.ndarray) -> ChanceScores:
    """Return AUROC and AUPRC of a constant score: one half, and the class's share."""
    return {"auroc": 0.5, "auprc": float(np.mean(share))} if len(share) > 1 else {}
