"""Average ranks of models over datasets and metrics, over the same complete cells for all or not at all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.reports.suite import Study, short_name
from bench.reports.table import Cell, Footnotes, mark_cells
from bench.results.statistics import average_ranks


@dataclass(frozen=True)
class Scores:
    """Mean test scores of models that are complete: values (n_rows, n_models), a row per dataset and metric."""

    models: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    values: NDArray[np.float64]


def complete_scores(studies: Iterable[Study], models: Sequence[str], metrics: Sequence[str]) -> Scores:
    """Return the scores of all models on those datasets where none of them lacks a seed.

    A metric that no model has on a dataset (AUROC with one class) is left out there.
    """
    rows, values = [], []
    for study in studies:
        if not all(map(study.is_complete, models)):
            continue
        for metric in metrics:
            scores = [study.groups[model].score(metric) for model in models]
            known = [score.mean for score in scores if score is not None]
            if len(known) == len(models):
                rows.append((study.dataset, metric))
                values.append(known)
    return Scores(tuple(models), tuple(rows), np.array(values).reshape(len(rows), len(models)))


def rank_cells(
    studies: Sequence[Study], models: Sequence[str], metrics: Sequence[str], notes: Footnotes
) -> list[Cell]:
    """Return the average rank of each model (1 is best), or dashes with the reason."""
    scores = complete_scores(studies, models, metrics)
    ranked = {dataset for dataset, _ in scores.rows}
    left_out = [short_name(study.dataset) for study in studies if study.dataset not in ranked]
    if not scores.rows or len(models) < 2:
        reason = "one model has no rank" if len(models) < 2 else "no dataset on which all models are complete"
        return [Cell(note=notes.number(f"no average rank: {reason}"))] * len(models)
    note = None
    if left_out:
        note = notes.number(
            f"average rank without {', '.join(left_out)}, where a model is incomplete: same cells for all"
        )
    ranks = average_ranks(scores.values)
    marks = mark_cells(Cell(-rank) for rank in ranks)
    return [replace(mark, mean=float(rank), note=note) for mark, rank in zip(marks, ranks, strict=True)]
