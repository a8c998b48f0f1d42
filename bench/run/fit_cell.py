"""One cell of an estimator from its data to its record: load, fit, test once, write."""

import time
from datetime import UTC, datetime
from typing import Any

import numpy as np

from bench.datasets.contract import Dataset
from bench.errors import ModelError
from bench.estimators import registry as estimators
from bench.estimators.fit_estimator import FitOutcome, fit_estimator
from bench.estimators.identity import identify
from bench.files import sha256_of
from bench.measure.memory import peak_bytes
from bench.models.source import path_of
from bench.plan.cell import current_revisions
from bench.results.record import Metrics, Record, Scores, Timing
from bench.results.store import write_record
from bench.run.cell_files import write_predictions
from bench.run.ended import earlier_record
from bench.run.failure import environment_of, identity_of
from bench.run.job import Job
from bench.run.planned_inputs import Parts, drawn_train, load_data
from bench.train.part import Part
from bench.train.scores import score


def fit_cell(job: Job) -> tuple[Record, str]:
    """Fit, test and record one cell; return the record that it has now, and a remark on it.

    The fitted state is not kept, and the record says so. Where the fit is interrupted it starts afresh.

    Raises
    ------
    DataError, ModelError
        The data, or a user's own estimator, is not what it was when the cell was planned.
    """
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
    settings = job.cell.settings
    dataset = load_data(job)
    parts = Parts.of(dataset, job.cell.data.split)
    train = drawn_train(parts.train, settings)
    loaded = time.perf_counter()

    outcome = fit_estimator(
        build_estimator(job), train, parts.validation, dataset.facts.n_classes, settings.seed
    )
    print(_remark(outcome, dataset), flush=True)
    fitted = time.perf_counter()

    val_scores, _ = _tested(outcome, parts.validation, dataset)
    test_scores, test_logits = _tested(outcome, parts.test, dataset)
    metrics = Metrics(val=val_scores, test=test_scores)
    ended = time.perf_counter()

    environment = environment_of(job, None)
    kept, note = earlier_record(job, metrics, environment)
    if kept is None:
        write_predictions(job, dataset, parts.test, test_logits)
        kept = Record(
            **identity_of(job),
            outcome="ok",
            metrics=metrics,
            timing=Timing(
                started=started,
                load_s=loaded - clock,
                train_s=fitted - loaded,
                test_s=ended - fitted,
                total_s=time.perf_counter() - clock,
            ),
            peak_memory_bytes=peak_bytes(job.device),
            environment=environment,
            files={job.folder.predictions.name: sha256_of(job.folder.predictions)},
        )
        write_record(job.folder, kept)
    return kept, note


def build_estimator(job: Job) -> Any:
    """Build the cell's estimator, unfitted.

    Raises
    ------
    ModelError
        Its file, its parameters or its packages have changed since the cell was planned, or differ on this machine.
    """
    settings, planned = job.cell.settings, job.cell
    estimator = estimators.build_cell(settings.model, settings.hyperparameters)
    found = identify(estimator)
    if found != planned.identity or current_revisions(settings.model, found) != planned.revisions:
        packages = ", ".join(f"{name} {version}" for name, version in found.packages.items())
        raise ModelError(
            f"{settings.model}: {path_of(job.model)} or what it imports ({packages}) is not what it was when the cell "
            "was planned; run the same command again: cells of changed code are other cells"
        )
    return estimator


def _remark(outcome: FitOutcome, dataset: Dataset) -> str:
    names = dataset.facts.class_names
    unseen = [name for label, name in enumerate(names) if label not in outcome.seen_classes]
    shown = "with the validation part" if outcome.validation_shown else "without the validation part"
    lacking = f"; no training window of {', '.join(unseen)}" if unseen else ""
    return f"fitted in {outcome.fit_s:.1f} s {shown}{lacking}"


def _tested(outcome: FitOutcome, part: Part, dataset: Dataset) -> tuple[Scores, np.ndarray]:
    logits = outcome.logits(part)
    return score(logits, part.part_labels, part.part_subjects, dataset.facts.class_names), logits
