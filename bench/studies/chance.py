"""What a test split gives to who has not looked at the signal: the most frequent class, or a proportional guess.

Scores are in the order of the metrics: accuracy, precision, recall, F1, AUROC, AUPRC; macro over the classes
present. Both guesses know the test split's own class shares, so that they are the most that blindness can reach.
"""

from collections.abc import Sequence

import numpy as np

ChanceScores = tuple[float, float, float, float, float | None, float | None]


def majority_scores(windows_per_class: Sequence[int]) -> ChanceScores:
    """Return the scores of always answering with the most frequent class.

    That class has precision ``p``, recall 1 and F1 ``2p / (1 + p)``, ``p`` its share; the others have zeros.
    """
    share = _shares(windows_per_class)
    p, n_present = share.max(), len(share)
    accuracy, f1 = float(p), float(2 * p / (1 + p) / n_present)
    return accuracy, float(p / n_present), 1 / n_present, f1, *_ranking(share)


def stratified_scores(windows_per_class: Sequence[int]) -> ChanceScores:
    """Return the expected scores of guessing each class with its share.

    Every class has precision, recall and F1 equal to its share (exact in the limit of many windows).
    """
    share = _shares(windows_per_class)
    expected = float(np.mean(share))
    return float(np.sum(share**2)), expected, expected, expected, *_ranking(share)


def _shares(windows_per_class: Sequence[int]) -> np.ndarray:
    counts = np.array([n for n in windows_per_class if n > 0], dtype=float)
    return counts / counts.sum()


def _ranking(share: np.ndarray) -> tuple[float | None, float | None]:
    """Return AUROC and AUPRC of a constant score: one half, and the class's share."""
    return (0.5, float(np.mean(share))) if len(share) > 1 else (None, None)
