"""The models whose average ranks differ significantly: by more than the critical difference.

Source: Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 2006 (Nemenyi's test).
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RankDistance:
    """Average ranks beside the critical difference of Nemenyi's test.

    Attributes
    ----------
    critical
        Distance in ranks above which two models differ significantly.
    largest
        Largest possible distance in ranks: one model always first, one always last.
    separable
        Indices of the pairs that differ significantly, better model first, widest pair first.
    n_pairs
        Number of pairs of models.
    """

    critical: float
    largest: int
    separable: tuple[tuple[int, int], ...]
    n_pairs: int


def rank_distance(average_ranks: Floats, critical: float) -> RankDistance:
    """Return which pairs of models differ significantly.

    Parameters
    ----------
    average_ranks
        Mean rank of each model over datasets, 1 is best: (n_models,).
    critical
        Nemenyi's critical difference for these numbers of models and datasets.
    """
    order = [int(model) for model in np.argsort(average_ranks, kind="stable")]
    apart = {(a, b): float(average_ranks[b] - average_ranks[a]) for a, b in combinations(order, 2)}
    far = sorted((pair for pair in apart if apart[pair] > critical), key=apart.__getitem__, reverse=True)
    return RankDistance(critical, len(order) - 1, tuple(far), len(apart))
