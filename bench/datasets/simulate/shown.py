"""What each stretch of a simulated recording shows: mostly its own class, and the scores that this leaves attainable.

A class reaches the signal by nothing but what is shown. So a classifier of single windows can do no better than an
oracle that sees what each window shows and answers that, and the oracle's scores follow from the shares alone.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

AttainableMetric = Literal["accuracy", "f1"]
_METRICS: tuple[AttainableMetric, ...] = ("accuracy", "f1")
# Of each run of so many stretches one shows another class than its label says: in every subject as many, so that few
# subjects give narrow intervals.
RUN = 10
DOUBT = 1.0 / RUN


def draw_shown(
    generator: np.random.Generator, labels: NDArray[np.int64], n_classes: int
) -> NDArray[np.int64]:
    """Return the class that each stretch shows: its label, but in one place of each run one of the others.

    Places and other classes are equally likely; a last, shorter run holds such a place as often as it is long.

    Parameters
    ----------
    generator
        The recording's own generator.
    labels
        ``(n_stretches,)``, each below ``n_classes``.
    n_classes
        At least 2.
    """
    starts = np.arange(0, len(labels), RUN)
    places = starts + generator.integers(RUN, size=len(starts))
    places = places[places < len(labels)]
    shown = labels.copy()
    shown[places] = (labels[places] + generator.integers(1, n_classes, len(places))) % n_classes
    return shown


def attainable(shares: Sequence[float]) -> dict[str, float]:
    """Return the expected ``attainable_accuracy`` and ``attainable_f1`` (macro) of the oracle, from 0 to 1.

    They bound what any classifier of single windows attains from above; a small test part may lie beyond by chance.

    Parameters
    ----------
    shares
        Share of each class among the windows, in label order; any scale.

    Notes
    -----
    Of class i with share p, the oracle finds ``1 - DOUBT``; it says i of a share ``q = p (1 - DOUBT) + (1 - p)
    DOUBT / (n - 1)``. F1 is ``2 p (1 - DOUBT) / (p + q)``.
    """
    p = np.asarray(shares, dtype=np.float64) / np.sum(shares)
    found = p * (1.0 - DOUBT)
    said = found + (1.0 - p) * DOUBT / (len(p) - 1)
    return {
        "attainable_accuracy": round(1.0 - DOUBT, 4),
        "attainable_f1": round(float(np.mean(2.0 * found / (p + said))), 4),
    }


def attainable_in(marker: Mapping[str, str | int | float]) -> dict[AttainableMetric, float]:
    """Return the attainable scores by metric that a simulator noted in its marker; empty if it noted none."""
    return {
        metric: float(marker[f"attainable_{metric}"])
        for metric in _METRICS
        if f"attainable_{metric}" in marker
    }
