"""Scores for average ranks of models over datasets and metrics, on the same complete cells for all; see `suite.py`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.paper.names import OURS, short_name
from bench.studies.suite import Study


@dataclass(frozen=True)
class Scores:
    """Mean test scores of models that are complete: values (n_rows, n_models), a row per dataset and metric.

    `left_out` names the requested models and datasets that are absent, and why; empty if none is.
    """

    models: tuple[str, ...]
    studies: tuple[Study, ...]
    rows: tuple[tuple[str, str], ...]
    values: NDArray[np.float64]
    left_out: str


def complete_scores(studies: Sequence[Study], models: Sequence[str], metrics: Sequence[str]) -> Scores:
    """Return the scores of the models and datasets with the most cells in common.

    Datasets on which models were trained by several protocols are left out: scores there rank no models.
    A metric that a model lacks on a dataset (AUROC with one class) is left out on that dataset.
    """
    of_one_protocol = [study for study in studies if study.has_one_protocol]
    chosen, chosen_models = _most_in_common(of_one_protocol, models)
    rows, values = [], []
    for study in chosen:
        for metric in metrics:
            scores = [study.groups[model].score(metric) for model in chosen_models]
            known = [score.mean for score in scores if score is not None]
            if len(known) == len(chosen_models):
                rows.append((study.dataset, metric))
                values.append(known)
    return Scores(
        chosen_models,
        chosen,
        tuple(rows),
        np.array(values).reshape(len(rows), len(chosen_models)),
        _left_out(studies, models, chosen, chosen_models),
    )


def _most_in_common(
    studies: Sequence[Study], models: Sequence[str]
) -> tuple[tuple[Study, ...], tuple[str, ...]]:
    """Return the datasets and the models, at least two, that are complete together in the most cells.

    Of equal choices the one with MedMamba is taken, then the one with more datasets, then the first.
    """
    has = {
        model: frozenset(study.dataset for study in studies if study.is_complete(model)) for model in models
    }
    # Every set of datasets shared by some models is an intersection of single models' sets.
    shared: set[frozenset[str]] = set()
    for own in has.values():
        shared |= {own, *(own & other for other in shared)}
    choices = [(datasets, tuple(model for model in models if datasets <= has[model])) for datasets in shared]
    choices = [(datasets, found) for datasets, found in choices if datasets and len(found) > 1]
    if not choices:
        return (), ()
    datasets, found = min(
        choices,
        key=lambda choice: (
            -len(choice[0]) * len(choice[1]),
            OURS not in choice[1],
            -len(choice[0]),
            sorted(choice[0]),
        ),
    )
    return tuple(study for study in studies if study.dataset in datasets), found


def _left_out(
    studies: Iterable[Study], models: Iterable[str], chosen: Sequence[Study], chosen_models: Sequence[str]
) -> str:
    left = [study for study in studies if study not in chosen]
    mixed = [short_name(study.dataset) for study in left if not study.has_one_protocol]
    datasets = [short_name(study.dataset) for study in left if study.has_one_protocol]
    absent = [model for model in models if model not in chosen_models]
    parts = []
    if absent:
        parts.append(f"{', '.join(absent)} (incomplete on a dataset that the others have)")
    if datasets:
        parts.append(f"{', '.join(datasets)} (a model is incomplete there)")
    if mixed:
        parts.append(f"{', '.join(mixed)} (not one protocol)")
    return f"{' and '.join(parts)}: same cells for all" if parts else ""
