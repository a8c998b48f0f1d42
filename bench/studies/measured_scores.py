"""Scores of a suite that may be compared with the paper's, in percent: other seeds, the paper's own test subjects."""

from bench.errors import RecordError
from bench.paper.names import WITHOUT_PUBLISHED_SPLIT, short_name
from bench.stats.estimate import Estimate, mean_over_seeds
from bench.studies.suite import Study, Suite


class NotComparableError(RecordError):
    """A claim is about scores that were not measured, or not as the paper's were."""


def comparable_score(suite: Suite, dataset: str, model: str, metric: str) -> Estimate:
    """Return a model's mean over seeds on the published split, reduced models of the ablation included.

    Raises
    ------
    NotComparableError
        If the scores are missing, or data, split, settings or seeds are not the paper's.
    """
    study = suite.study(dataset)
    place = f"{model} on {short_name(dataset)}"
    scores = seed_scores(study, model, metric) if study else []
    if study is None or not scores:
        raise NotComparableError(f"{place}: not run")
    if reason := study.void(model):
        raise NotComparableError(f"{place}: {reason}")
    return mean_over_seeds(scores)


def comparable_lead(suite: Suite, dataset: str, model: str, other: str, metric: str) -> Estimate:
    """Return one model's score minus another's; equal seeds of two models share nothing, so they are not paired.

    Raises
    ------
    NotComparableError
        If either model has no scores that may be compared with the paper's.
    """
    first, second = (comparable_score(suite, dataset, name, metric) for name in (model, other))
    return first.minus(second)


def seed_scores(study: Study, model: str, metric: str) -> list[float]:
    """Return a model's score of each seed in percent, reduced models of the ablation included; empty if it has none."""
    groups = {group.model: group for group in study.comparison.groups}
    return [100 * value for value in groups[model].by_seed(metric).values()] if model in groups else []


def has_published_split(dataset: str) -> bool:
    """Whether the paper or its sources list the test subjects, so that scores can be compared at all."""
    return dataset not in WITHOUT_PUBLISHED_SPLIT
