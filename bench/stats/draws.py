"""The resampling of all intervals of a report: number of draws, level and generator.

Generators depend on names only, so that a report is the same when it is rendered again.
"""

import hashlib

import numpy as np

LEVEL = 0.95
N_RESAMPLES = 600


def named_generator(*names: str) -> np.random.Generator:
    """Return a generator that depends on names only."""
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
