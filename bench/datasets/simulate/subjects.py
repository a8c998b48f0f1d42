"""Who is in a simulated cohort: subjects per class, the order of classes, and each subject's own generator."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.errors import UsageError

# With four subjects of a class every split rule puts at least one into each part.
LEAST_PER_CLASS = 4


def subject_generator(seed: int, subject: int, *stream: int) -> np.random.Generator:
    """Return a generator that belongs to one subject of one cohort, whatever the cohort's size."""
    return np.random.default_rng([seed, subject, *stream])


def share(published: Sequence[float], n_subjects: int) -> NDArray[np.int64]:
    """Share subjects among classes in the published proportion, by largest remainders."""
    exact = np.asarray(published) * n_subjects / sum(published)
    counts = np.floor(exact).astype(np.int64)
    counts[np.argsort(counts - exact, kind="stable")[: n_subjects - counts.sum()]] += 1
    return counts


def class_counts(n_subjects: int, published: Sequence[int]) -> list[int]:
    """Share subjects among classes in the published proportion, with at least four of each.

    Raises
    ------
    UsageError
        A class would have fewer.
    """
    counts = share(published, n_subjects)
    if counts.min() < LEAST_PER_CLASS:
        fewest = next(n for n in itertools.count(n_subjects) if share(published, n).min() >= LEAST_PER_CLASS)
        raise UsageError(
            f"{n_subjects} subjects give a class {counts.min()} of them and {LEAST_PER_CLASS} are needed; "
            f"simulate at least {fewest}"
        )
    return counts.tolist()


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
    counts = LEAST_PER_CLASS + share(shares, n_subjects - least)
    labels = np.repeat(np.arange(len(shares)), counts)
    return np.random.default_rng([seed, len(labels)]).permutation(labels)
