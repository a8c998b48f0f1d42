"""The losses of the reduced models on one dataset: differences to the full model, paired by seed and by test window."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.errors import RecordError
from bench.paper.names import OURS, ablation_variants
from bench.results.metrics import METRICS
from bench.results.predictions import Predictions, load_predictions
from bench.stats.bootstrap import (
    CONFUSION_SCORES,
    Interval,
    PairedPredictions,
    draw_subjects,
    paired_difference,
)
from bench.stats.draws import LEVEL, N_RESAMPLES, named_generator
from bench.stats.ranking import paired_auroc_difference
from bench.stats.summary import over_seeds
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
    interval = _interval(pair[0], pair[1], metric, full.records[0].cell.dataset) if pair else None
    if interval is None:
        return Difference(mean, std, remarks=remarks)
    if not np.isfinite([interval.low, interval.high]).all():
        remarks = (*remarks, "no interval: a class is missing from every draw of subjects")
        return Difference(mean, std, remarks=remarks)
    if interval.few_units:
        remarks = (
            *remarks,
            f"{interval.n_units} test subjects: the interval is too narrow to be relied on, no difference is bold",
        )
    sure = interval.excludes_zero and not interval.few_units
    return Difference(mean, std, 100 * interval.low, 100 * interval.high, sure, remarks)


def _interval(
    first: Sequence[Predictions], second: Sequence[Predictions], metric: str, dataset: str
) -> Interval | None:
    label, subject = first[0].label, first[0].subject
    # Seeded by names of the test part only, so that all variants and scores share the draws.
    draws = draw_subjects(len(np.unique(subject)), named_generator(dataset), N_RESAMPLES)
    if metric in CONFUSION_SCORES:
        predicted = (np.stack([seed.predicted for seed in model]) for model in (first, second))
        return paired_difference(PairedPredictions(label, subject, *predicted), metric, draws, LEVEL)
    if metric == "auroc":
        mine, other = (np.stack([seed.probability for seed in model]) for model in (first, second))
        return paired_auroc_difference(label, subject, mine, other, draws, LEVEL)
    return None
