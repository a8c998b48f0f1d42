"""Mean and deviation over seeds."""

from collections.abc import Sequence

import numpy as np

DDOF = 1
"""Deviations are those of a sample: divided by the number of seeds minus this."""


def over_seeds(values: Sequence[float | None]) -> tuple[float, float | None] | None:
    """Return mean and sample deviation (None with one value) of the values that are known; None without any."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return float(np.mean(known)), float(np.std(known, ddof=DDOF)) if len(known) > 1 else None
