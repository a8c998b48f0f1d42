"""Who is in a simulated cohort: subjects per class, the order of classes, and each subject's own generator."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.errors import UsageError

# With four subjects of a class every split rule puts at least one into each part.
LEAST_PER_CLASS = 4


def subject_generator(seed: int, subject: int, *stream: int) -> np.random.Generator:
    """Return a generator that belongs to one subject of one cohort, whatever the cohort's size."""
    return np.random.default_rng([seed, subject, *stream])


def draw_classes(shares: Sequence[float], n_subjects: int, seed: int, dataset: str) -> NDArray[np.int64]:
    """Return the class of each subject: in the given shares, at least four of each, in random order.

    Parameters
    ----------
    shares
        Share of each class in the published dataset, in label order.
    n_subjects
        Subjects wanted.
    seed
        Seed of the cohort.
    dataset
        Name for the message.

    Raises
    ------
    UsageError
        There are too few subjects for four of each class.
    """
    least = LEAST_PER_CLASS * len(shares)
    if n_subjects < least:
        raise UsageError(
            f"{dataset}: {n_subjects} subjects are too few to simulate; give at least {least}, which is "
            f"{LEAST_PER_CLASS} for each of {len(shares)} classes"
        )
    wanted = np.asarray(shares, dtype=np.float64) / sum(shares) * (n_subjects - least)
    counts = np.floor(wanted).astype(np.int64)
    counts[np.argsort(counts - wanted, kind="stable")[: n_subjects - least - counts.sum()]] += 1
    labels = np.repeat(np.arange(len(shares)), counts + LEAST_PER_CLASS)
    return np.random.default_rng([seed, len(labels)]).permutation(labels)
