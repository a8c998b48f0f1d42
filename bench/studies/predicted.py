"""The predictions of all models on one dataset, reduced to the needs of tables and figures; each file is read once."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.errors import RecordError
from bench.results.predictions import Predictions, load_predictions
from bench.results.record import Record
from bench.stats.bootstrap import DrawnConfusions, confusion_by_subject, draw_confusions, draw_subjects
from bench.stats.draws import N_RESAMPLES, named_generator
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
    _drawn: dict[str, DrawnConfusions] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def draws(self) -> NDArray[np.float64]:
        """The count of each test subject in each draw, (n_draws, n_subjects); the same draws for all models."""
        assert self.grouping is not None
        return draw_subjects(len(self.grouping.names), named_generator(self.study.dataset), N_RESAMPLES)

    def drawn(self, model: str) -> DrawnConfusions:
        """Return the confusion matrices of a model with predictions, by draws of subjects."""
        if model not in self._drawn:
            assert self.label is not None
            assert self.grouping is not None
            by_subject = confusion_by_subject(
                self.label, self.predicted(model), self.grouping.codes, len(self.class_names)
            )
            self._drawn[model] = draw_confusions(by_subject, self.draws)
        return self._drawn[model]

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
            "test windows than the other models'; remove the cell's record.json to have it trained again"
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
