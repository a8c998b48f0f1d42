"""A model's score and the difference of two models, with the variance between seeds and between test subjects.

The model is that of several readers judging the same cases, with seeds as readers: score of a seed on the test
subjects = mean + seed + subject + seed x subject. The variance between seeds is that of their scores, the variance
between subjects a jackknife over subjects of the mean over seeds; the interaction, part of both, is counted once.
Everything is in closed form: no draw, no generator, and no noise from a finite number of draws.

Sources: Obuchowski and Rockette, Communications in Statistics 1995, and Hillis, Statistics in Medicine 2007 and 2014
(readers and cases both random, jackknifed covariances, degrees of freedom, readers nested in tests); Efron and Stein,
Annals of Statistics 1981 (jackknife); Satterthwaite, Biometrics Bulletin 1946; Bouthillier et al., Accounting for
variance in machine learning benchmarks, MLSys 2021 (both sources belong into a comparison).
"""

import numpy as np
from numpy.typing import NDArray

from bench.errors import RecordError
from bench.stats.estimate import Estimate, Variance
from bench.stats.left_out import LeftOut
from bench.stats.unknowable import FewSeedsError

Floats = NDArray[np.float64]


def score_estimate(model: LeftOut) -> Estimate:
    """Return a model's score, mean over seeds, for other seeds and other test subjects.

    Raises
    ------
    FewSeedsError
        If there is one seed.
    """
    deviations = model.deviations
    return _estimate(
        float(model.scores.mean()),
        deviations.mean(axis=0),
        (_between_seeds(model.scores, deviations),),
        model,
    )


def difference_estimate(first: LeftOut, second: LeftOut) -> Estimate:
    """Return score(first) - score(second) for other seeds of each and other test subjects, the same for both.

    Seeds are independent: the same number in two models draws other weights, and the split is the same for all seeds.
    If equal seeds share something after all (the order of batches), the interval is too wide, never too narrow. The
    numbers of seeds may differ.

    Raises
    ------
    FewSeedsError
        If a model has one seed.
    RecordError
        If the models were not tested on the same subjects.
    """
    _require_same_subjects(first, second)
    mine, others = first.deviations, second.deviations
    return _estimate(
        float(first.scores.mean() - second.scores.mean()),
        mine.mean(axis=0) - others.mean(axis=0),
        (_between_seeds(first.scores, mine), _between_seeds(second.scores, others)),
        first,
        second,
    )


def _require_same_subjects(first: LeftOut, second: LeftOut) -> None:
    if not np.array_equal(first.strata, second.strata):
        raise RecordError(
            f"difference of two models: {len(first.strata)} and {len(second.strata)} test subjects, or other classes "
            "of theirs; compare two models on the same test windows"
        )


def _estimate(value: float, deviations: Floats, seeds: tuple[Variance, ...], *models: LeftOut) -> Estimate:
    return Estimate(
        value,
        (_between_subjects(deviations, models[0].strata), *seeds),
        min(len(model.scores) for model in models),
        len(deviations),
    )


def _between_subjects(deviations: Floats, strata: NDArray[np.integer]) -> Variance:
    """Return the variance of a mean over seeds between draws of subjects, with the doubt of each stratum."""
    squares = np.bincount(strata, deviations**2)
    df = np.maximum(np.bincount(strata) - 1, 1)
    return Variance(float(squares.sum()), float((squares**2 / df).sum()))


def _between_seeds(scores: Floats, deviations: Floats) -> Variance:
    """Return the variance between seeds of a mean on all possible subjects: without the part from the test subjects.

    Scores of seeds also differ because each seed errs on other subjects; `_between_subjects` includes that part. It
    is the jackknife variance of single seeds minus that of their mean. Never below zero.
    """
    n_seeds = len(scores)
    if n_seeds < 2:
        raise FewSeedsError(n_seeds)
    square = float(np.var(scores, ddof=1)) / n_seeds
    own = deviations - deviations.mean(axis=0)
    interaction = float((own**2).sum()) / (n_seeds * (n_seeds - 1))
    return Variance(max(square - interaction, 0.0), square**2 / (n_seeds - 1))
