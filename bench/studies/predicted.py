"""The predictions of all models on one dataset, reduced to the needs of tables and figures; each file is read once."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.errors import RecordError
from bench.results.predictions import Predictions, load_predictions
from bench.results.record import Record
from bench.stats.bootstrap import CONFUSION_SCORES, confusion_by_subject
from bench.stats.estimate import Estimate
from bench.stats.left_out import LeftOut, score_left_out
from bench.stats.two_way import difference_estimate
from bench.studies.subject_scores import (
    Grouping,
    Reliability,
    Votes,
    confusion,
    group_windows,
    reliability,
    vote,
)
from bench.studies.suite import Study


@dataclass(frozen=True)
class PredictedCell:
    """One cell on its test windows: predicted classes (n_windows,), confusion of windows, votes, reliability."""

    seed: int
    predicted: NDArray[np.integer]
    windows: NDArray[np.intp]
    votes: Votes
    reliability: Reliability


@dataclass(frozen=True)
class Predicted:
    """A study with its predictions.

    `cells` has the finished cells of each model with predictions; `damaged` says why others have none. Without
    any, `label` and `grouping` are None.
    """

    study: Study
    label: NDArray[np.integer] | None = None
    grouping: Grouping | None = None
    cells: dict[str, list[PredictedCell]] = field(default_factory=dict)
    damaged: tuple[RecordError, ...] = ()
    _left_out: dict[tuple[str, str], LeftOut] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def left_out(self, model: str, metric: str) -> LeftOut:
        """Return a score of a model's confusion matrices with each test subject left out.

        Raises
        ------
        NoIntervalError
            Leaving out a subject leaves nothing, or nothing of a class.
        """
        if (model, metric) not in self._left_out:
            assert self.label is not None
            assert self.grouping is not None
            by_subject = confusion_by_subject(
                self.label, self.predicted(model), self.grouping.codes, len(self.class_names)
            )
            self._left_out[model, metric] = score_left_out(by_subject, CONFUSION_SCORES[metric])
        return self._left_out[model, metric]

    def lead(self, model: str, rival: str, metric: str) -> Estimate:
        """Return a model's score minus a rival's in percentage points, for other seeds and other test subjects.

        Raises
        ------
        NoIntervalError
            There is one seed, or too few subjects to leave one out.
        """
        return difference_estimate(self.left_out(model, metric), self.left_out(rival, metric)).times(100)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes in label order."""
        return self.study.record.data.class_names

    def is_complete(self, model: str) -> bool:
        """Whether all seeds of a model have predictions."""
        return tuple(cell.seed for cell in self.cells.get(model, [])) == self.study.seeds

    def predicted(self, model: str) -> NDArray[np.integer]:
        """Return the predicted classes of a model, (n_seeds, n_windows)."""
        return np.stack([cell.predicted for cell in self.cells[model]])


def read_predicted(out: Path, study: Study) -> Predicted:
    """Read the predictions of a study; an unusable file is named in `damaged` and left out."""
    first: Predictions | None = None
    grouping: Grouping | None = None
    cells: dict[str, list[PredictedCell]] = {}
    damaged = []
    for model, group in study.groups.items():
        for record in group.records:
            if not record.is_done:
                continue
            try:
                predictions = _load_like(out, record, first)
            except RecordError as error:
                damaged.append(error)
                continue
            if first is None or grouping is None:
                first, grouping = predictions, group_windows(predictions)
            cells.setdefault(model, []).append(_reduce(record, predictions, grouping))
    return Predicted(study, None if first is None else first.label, grouping, cells, tuple(damaged))


def _load_like(out: Path, record: Record, first: Predictions | None) -> Predictions:
    """Return the predictions of a record, which must be on the same windows as the first ones read."""
    predictions = load_predictions(out, record)
    if first is not None and not predictions.same_windows(first):
        cell = record.cell
        raise RecordError(
            f"predictions of {cell.model} / {cell.dataset} / seed {cell.seed} (key {record.key[:12]}) are of other "
            "test windows than those of the other models; remove the cell's record.json to train it again"
        )
    return predictions


def _reduce(record: Record, predictions: Predictions, grouping: Grouping) -> PredictedCell:
    n_classes = len(record.data.class_names)
    return PredictedCell(
        seed=record.cell.seed,
        predicted=predictions.predicted.astype(np.int16),
        windows=confusion(predictions.label, predictions.predicted, n_classes),
        votes=vote(predictions, grouping),
        reliability=reliability(predictions),
    )
