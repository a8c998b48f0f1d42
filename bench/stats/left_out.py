"""Scores of a model with each test subject left out in turn, from which intervals are computed.

Sources: Efron and Stein, The jackknife estimate of variance, Annals of Statistics 1981; Wolter, Introduction to
variance estimation, 2007, chapter 4 (within strata, the left-out subject replaced by its stratum's others); Hanley
and McNeil, Radiology 1982 (AUROC as the share of pairs ranked right, ties as half).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.stats.unknowable import FewSubjectsError, LoneSubjectError, OneClassError

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]


@dataclass(frozen=True)
class LeftOut:
    """Scores over seeds of one model on one test part.

    Attributes
    ----------
    scores
        Scores on all test subjects, (n_seeds,).
    without
        Scores with each subject left out, (n_seeds, n_subjects).
    strata
        Number of the group that each subject belongs to, (n_subjects,): its class where every subject has one class,
        so that the subjects vary and not the number of each class; else 0.
    """

    scores: Floats
    without: Floats
    strata: Integers

    @property
    def deviations(self) -> Floats:
        """Each subject's part of the jackknife's error, (n_seeds, n_subjects); the variance is the sum of squares."""
        found = np.empty_like(self.without)
        for stratum in np.unique(self.strata):
            members = self.strata == stratum
            own, n_members = self.without[:, members], members.sum()
            found[:, members] = np.sqrt((n_members - 1) / n_members) * (own - own.mean(axis=1, keepdims=True))
        return found


def score_left_out(by_subject: Floats, score: Callable[[Floats], Floats]) -> LeftOut:
    """Return a score of confusion matrices with each subject left out.

    Parameters
    ----------
    by_subject
        Confusion matrix of each seed and subject, rows the true class: (n_seeds, n_subjects, n_classes, n_classes).
    score
        Takes matrices (..., n_classes, n_classes) and returns (...), over the classes that have windows.

    Raises
    ------
    FewSubjectsError, LoneSubjectError
        If leaving out a subject leaves nothing, or nothing of a class.
    """
    strata = strata_of(by_subject[0].sum(axis=-1))
    whole = by_subject.sum(axis=1)
    return LeftOut(score(whole), score(_sums_without(whole, by_subject, strata)), strata)


def _sums_without(whole: Floats, parts: Floats, strata: Integers) -> Floats:
    """Return a sum over subjects without each subject, the others of its stratum weighted up to replace it.

    Parameters
    ----------
    whole, parts
        The sum, (n_seeds, ...), and each subject's part of it, (n_seeds, n_subjects, ...).
    strata
        Number of the group of each subject.
    """
    found = np.empty_like(parts)
    for stratum in np.unique(strata):
        members = strata == stratum
        own, n_members = parts[:, members], members.sum()
        total = own.sum(axis=1, keepdims=True)
        # Whole numbers are subtracted before scaling, so that a count that becomes 0 is exactly 0.
        found[:, members] = whole[:, None] - total + (total - own) * (n_members / (n_members - 1))
    return found


def strata_of(windows: Floats) -> Integers:
    """Return the group of each subject from its windows of each class, (n_subjects, n_classes).

    Raises
    ------
    FewSubjectsError, LoneSubjectError
        If leaving out a subject leaves nothing, or nothing of a class.
    """
    if len(windows) < 2:
        raise FewSubjectsError(len(windows))
    has = windows > 0
    lone = np.flatnonzero(has.sum(axis=0) == 1)
    if len(lone):
        raise LoneSubjectError(int(lone[0]))
    one_class_each = bool((has.sum(axis=1) == 1).all())
    return has.argmax(axis=1) if one_class_each else np.zeros(len(windows), dtype=int)


def auroc_left_out(labels: Integers, subjects: NDArray, probability: Floats) -> LeftOut:
    """Return the macro one-vs-rest AUROC with each subject left out.

    Parameters
    ----------
    labels, subjects
        True class and subject of each window, (n_windows,).
    probability
        (n_seeds, n_windows, n_classes); any score that ranks windows by each class.

    Raises
    ------
    FewSubjectsError, LoneSubjectError
        If leaving out a subject leaves nothing, or nothing of a class.
    OneClassError
        If all windows are of one class.
    """
    names, codes = np.unique(subjects, return_inverse=True)
    windows = np.zeros((len(names), int(labels.max()) + 1))
    np.add.at(windows, (codes, labels), 1)
    strata = strata_of(windows)
    classes = np.flatnonzero(windows.sum(axis=0))
    if len(classes) < 2:
        raise OneClassError
    pairs = np.array(
        [[_pairs_with(seed[:, label], labels == label, codes) for label in classes] for seed in probability]
    )
    return _macro_left_out(pairs.swapaxes(1, 3), strata)


def _macro_left_out(pairs: Floats, strata: Integers) -> LeftOut:
    """Return the macro AUROC from pairs of windows.

    `pairs` is (n_seeds, n_subjects + 1, 2, n_classes): won and all pairs, of each subject, then of all subjects.
    """
    own, whole = pairs[:, :-1], pairs[:, -1]
    without = _sums_without(whole, own, strata) if strata.any() else whole[:, None] - own
    return LeftOut(
        (whole[:, 0] / whole[:, 1]).mean(axis=-1), (without[:, :, 0] / without[:, :, 1]).mean(axis=-1), strata
    )


def _pairs_with(scores: Floats, truth: NDArray[np.bool_], codes: Integers) -> Floats:
    """Return the pairs of each subject, then of all: the number won and the number in all, (2, n_subjects + 1).

    Pairs with a subject: pairs of its windows of the class, plus pairs of its other windows, minus pairs between these,
    which both contain.
    """
    n_subjects = int(codes.max()) + 1
    level = np.unique(scores, return_inverse=True)[1]
    below, above = _ranked(level, truth)
    # Numbered by subject first: ranks minus all windows of earlier subjects are ranks within the own subject.
    within = np.unique(codes * (int(level.max()) + 1) + level, return_inverse=True)[1]
    others = np.bincount(codes, (~truth).astype(float), n_subjects)
    own_below = _ranked(within, truth)[0] - (np.cumsum(others) - others)[codes]

    of_class = np.bincount(codes, truth.astype(float), n_subjects)
    # The pairs of one window: in the class, with all below it in other subjects; else with all above it.
    won = np.bincount(codes, np.where(truth, below - own_below, above), n_subjects)
    there = of_class * (others.sum() - others) + others * of_class.sum()
    return np.array([np.r_[won, (below * truth).sum()], np.r_[there, of_class.sum() * others.sum()]])


def _ranked(level: Integers, truth: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return for each window the number of other windows below it and of class windows above it, ties as half."""
    positive, negative = (np.bincount(level, mask.astype(float)) for mask in (truth, ~truth))
    below = np.cumsum(negative) - negative / 2
    above = positive.sum() - np.cumsum(positive) + positive / 2
    return below[level], above[level]
