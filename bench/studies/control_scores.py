"""What networks and estimators score that were trained on shuffled labels: no more than a guess, or something leaks.

A guess that does not look at the signal answers with class k with some probability q(k). Its expected macro F1 is
largest where q is the share of each class in the test part: then F1 of every class is that share, and their mean one
over the number of classes. The stratified guess is therefore the bar, and the majority guess never above it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.errors import RecordError
from bench.results.record import Record
from bench.results.store import CONTROLS, read_controls
from bench.stats.estimate import LEVEL, Bounds
from bench.stats.summary import over_seeds
from bench.stats.two_way import score_estimate
from bench.stats.unknowable import NoIntervalError
from bench.studies.aggregate import Mean, compare
from bench.studies.chance import majority_scores, stratified_scores
from bench.studies.predicted import Predicted, read_predicted
from bench.studies.suite import Study

AT_CHANCE, LEAKS, FEW, UNKNOWN = (
    "at chance",
    "above chance: something leaks",
    "too few subjects to say",
    "no interval: no verdict",
)


@dataclass(frozen=True)
class ControlScore:
    """The macro F1 of one model trained on shuffled labels, as fractions of one.

    Attributes
    ----------
    model, f1
        Its label, and mean and deviation over seeds on the test part, whose labels are as they are.
    bounds
        Interval for other seeds and other test subjects; None where there is none, for the ``reason``.
    true_f1
        Mean of the same cells without the control; None unless all of them are done.
    verdict
        Whether the interval lies above the stratified guess.
    """

    model: str
    f1: Mean
    bounds: Bounds | None
    reason: str
    true_f1: float | None
    verdict: str


@dataclass(frozen=True)
class ControlStudy:
    """The controls under one condition, with the macro F1 of two guesses on the same test part."""

    study: Study
    scores: tuple[ControlScore, ...]
    majority: float
    stratified: float


@dataclass(frozen=True)
class Controls:
    """The controls of a results folder, and why files could not be used."""

    studies: tuple[ControlStudy, ...]
    damaged: tuple[RecordError, ...]


def control_scores(out: Path, results: Sequence[Record]) -> Controls:
    """Read the controls of a results folder; ``results`` are its records, for the scores without the control.

    Raises
    ------
    RecordError
        The folder of cells is none, or cannot be listed.
    """
    records, damaged = read_controls(out)
    studies = []
    for comparison in compare(records):
        study = Study(comparison)
        tested = read_predicted(out / CONTROLS, study)
        damaged.extend(tested.damaged)
        counts = study.record.data.parts["test"].windows_per_class
        guess = stratified_scores(counts)["f1"]
        scores = [
            _score(tested, model, score, guess, results)
            for model, group in study.groups.items()
            if (score := group.score("f1")) is not None
        ]
        if scores:
            studies.append(ControlStudy(study, tuple(scores), majority_scores(counts)["f1"], guess))
    return Controls(tuple(studies), tuple(damaged))


def verdict_of(bounds: Bounds, guess: float) -> str:
    """Return what an interval of macro F1 says beside the F1 of the best guess that does not look at the signal."""
    return LEAKS if bounds.low > guess else AT_CHANCE


def _score(tested: Predicted, model: str, f1: Mean, guess: float, results: Iterable[Record]) -> ControlScore:
    group = tested.study.groups[model]
    true_f1 = _without_control([record for record in group.records if record.is_done], results)
    if not tested.is_complete(model):
        reason = tested.study.gap(model) or f"{model} on {tested.study.dataset}: predictions are missing"
        return ControlScore(model, f1, None, reason, true_f1, UNKNOWN)
    try:
        estimate = score_estimate(tested.left_out(model, "f1"))
    except NoIntervalError as error:
        return ControlScore(model, f1, None, f"{tested.study.label}: {error}", true_f1, UNKNOWN)
    bounds = estimate.share_bounds(LEVEL)
    verdict = FEW if estimate.few_subjects else verdict_of(bounds, guess)
    return ControlScore(model, f1, bounds, "", true_f1, verdict)


def _without_control(controls: Sequence[Record], results: Iterable[Record]) -> float | None:
    """Return the mean macro F1 of the results that differ from controls in the labels alone; None if some lack one."""
    known = {_training_of(record): record.metrics.test.f1 for record in results if record.metrics is not None}
    found = [known.get(_training_of(record)) for record in controls]
    mean = over_seeds(found)
    return None if mean is None or None in found else mean[0]


def _training_of(record: Record) -> str:
    settings = {name: record.settings[name] for name in ("training", "hyperparameters", "data")}
    about = [record.cell.model_dump(), settings, record.data.fingerprint, record.data.normalisation]
    return json.dumps([about, record.revisions], sort_keys=True)
