"""The losses of the reduced models on one dataset: differences to the full model, paired by seed and by test window."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.errors import RecordError
from bench.paper.names import OURS, ablation_variants
from bench.results.metrics import METRICS
from bench.results.predictions import Predictions, load_predictions
from bench.stats.bootstrap import CONFUSION_SCORES, confusion_by_subject
from bench.stats.draws import LEVEL
from bench.stats.estimate import POSSIBLE_POINTS, Estimate
from bench.stats.left_out import LeftOut, auroc_left_out, score_left_out
from bench.stats.summary import over_seeds
from bench.stats.two_way import difference_estimate
from bench.stats.unknowable import NoIntervalError
from bench.studies.aggregate import Group, seed_differences
from bench.studies.caption import numbers
from bench.studies.suite import Study


@dataclass(frozen=True)
class Difference:
    """Reduced minus full model in one score, in percentage points.

    ``mean`` and ``std`` are over the seeds of both models; ``low`` and ``high`` bound it over test subjects, None if
    there is no interval. ``is_sure``: the interval excludes zero and rests on enough subjects. ``remarks``
    are for the reader, such as why the interval is missing.
    """

    mean: float | None = None
    std: float | None = None
    low: float | None = None
    high: float | None = None
    is_sure: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ablation:
    """The full model (where it was run) and the reduced ones; differences by variant and metric."""

    study: Study
    groups: dict[str, Group]
    differences: dict[str, dict[str, Difference]]


def read_ablation(out: Path, study: Study) -> Ablation | None:
    """Return the ablation of a study, or None where no reduced model was run.

    Predictions that cannot be read leave a difference without its interval.
    """
    run = {group.model: group for group in study.comparison.groups}
    variants = [variant for variant in ablation_variants() if variant in run]
    if not variants:
        return None
    full = run.get(OURS)
    return Ablation(
        study,
        {model: run[model] for model in (OURS, *variants) if model in run},
        {variant: _differences(out, study, full, run[variant]) for variant in variants},
    )


def _differences(out: Path, study: Study, full: Group | None, reduced: Group) -> dict[str, Difference]:
    common = [seed for seed in reduced.seeds if full is not None and seed in full.seeds]
    if full is None or not common:
        none = Difference(remarks=(f"{reduced.model} and {OURS} have no seed in common",))
        return dict.fromkeys(METRICS, none)
    remarks = ()
    if tuple(common) != study.seeds:
        remarks = (f"difference of {reduced.model} over the seeds that both models have: {numbers(common)}",)
    try:
        pair = [_predictions(out, group, common) for group in (reduced, full)]
    except RecordError as error:
        pair, remarks = None, (*remarks, str(error))
    if pair and not all(prediction.same_windows(pair[0][0]) for model in pair for prediction in model):
        pair = None
        remarks = (*remarks, f"{reduced.model} and {OURS} were tested on different windows: no interval")
    return {metric: _difference(full, reduced, metric, pair, remarks) for metric in METRICS}


def _predictions(out: Path, group: Group, seeds: Sequence[int]) -> list[Predictions]:
    return [
        load_predictions(out, record)
        for record in group.records
        if record.is_done and record.cell.seed in seeds
    ]


def _difference(
    full: Group,
    reduced: Group,
    metric: str,
    pair: Sequence[Sequence[Predictions]] | None,
    remarks: tuple[str, ...],
) -> Difference:
    found = over_seeds(seed_differences(reduced, full, metric))
    if found is None:
        return Difference(remarks=remarks)
    mean, std = found
    if pair is None:
        return Difference(mean, std, remarks=remarks)
    try:
        estimate = _estimate(pair[0], pair[1], metric)
    except NoIntervalError as error:
        return Difference(mean, std, remarks=(*remarks, str(error)))
    if estimate is None:
        return Difference(mean, std, remarks=remarks)
    bounds = estimate.bounds(LEVEL).within(POSSIBLE_POINTS)
    if estimate.few_subjects:
        remarks = (
            *remarks,
            f"{estimate.n_subjects} test subjects: too few to rely on the interval, nothing is bold",
        )
    sure = bounds.excludes_zero and not estimate.few_subjects
    return Difference(mean, std, bounds.low, bounds.high, sure, remarks)


def _estimate(first: Sequence[Predictions], second: Sequence[Predictions], metric: str) -> Estimate | None:
    """Return the difference of two models in percentage points; None for a metric that has no interval."""
    found = [_left_out(model, metric) for model in (first, second)]
    if found[0] is None or found[1] is None:
        return None
    return difference_estimate(found[0], found[1]).times(100)


def _left_out(model: Sequence[Predictions], metric: str) -> LeftOut | None:
    label, subject = model[0].label, model[0].subject
    if metric == "auroc":
        return auroc_left_out(label, subject, np.stack([seed.probability for seed in model]))
    if metric not in CONFUSION_SCORES:
        return None
    predicted = np.stack([seed.predicted for seed in model])
    n_classes = model[0].probability.shape[1]
    return score_left_out(
        confusion_by_subject(label, predicted, subject, n_classes), CONFUSION_SCORES[metric]
    )
