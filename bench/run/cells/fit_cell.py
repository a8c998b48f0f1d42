"""One cell of an estimator from its data to its record: load, fit, test once, write."""

from pathlib import Path
from typing import Any

from bench.datasets.contract import Dataset
from bench.errors import ModelError
from bench.estimators import registry as estimators
from bench.estimators.fit_estimator import FitOutcome, fit_estimator
from bench.estimators.identity import identify
from bench.estimators.keep_fitted import write_fitted
from bench.models.source import path_of
from bench.plan.cell import current_revisions
from bench.results.record import Metrics, Record
from bench.run.cells.finished_cell import CellClock, Tested, finish, scored
from bench.run.failure import environment_of
from bench.run.job import Job
from bench.run.planned_inputs import Parts, fitting_windows, load_data


def fit_cell(job: Job) -> tuple[Record, str]:
    """Fit, test and record one cell; return the record that it has now, and a remark on it.

    The fitted state is kept where the user asks for it, and the record says so. Where the fit is interrupted it starts
    afresh.

    Raises
    ------
    DataError, ModelError
        The data, or a user's own estimator, is not what it was when the cell was planned.
    """
    clock = CellClock()
    settings = job.cell.settings
    dataset = load_data(job)
    parts = Parts.of(dataset, job.cell.data.split)
    train, validation = fitting_windows(parts, settings)
    clock.lap()

    outcome = fit_estimator(build_estimator(job), train, validation, dataset.facts.n_classes, settings.seed)
    print(_remark(outcome, dataset), flush=True)
    clock.lap()

    logits = outcome.logits(parts.test)
    metrics = Metrics(
        val=scored(outcome.logits(parts.validation), parts.validation, dataset),
        test=scored(logits, parts.test, dataset),
    )
    clock.lap()
    result = Tested(metrics, dataset, parts.test, logits)
    fields = {} if job.keep_fitted is None else {"fitted_state": job.folder.fitted(job.keep_fitted).name}
    return finish(
        job, result, environment_of(job, None), clock, lambda: _written_state(job, outcome), **fields
    )


def _written_state(job: Job, outcome: FitOutcome) -> tuple[Path, ...]:
    """Write the fitted estimator where it is to be kept."""
    if job.keep_fitted is None:
        return ()
    path = job.folder.fitted(job.keep_fitted)
    write_fitted(outcome.fitted.estimator, path, job.keep_fitted)
    return (path,)


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
            "was planned; run the same command again: cells with changed code have another key"
        )
    return estimator


def _remark(outcome: FitOutcome, dataset: Dataset) -> str:
    names = dataset.facts.class_names
    unseen = [name for label, name in enumerate(names) if label not in outcome.seen_classes]
    shown = "with the validation part" if outcome.validation_shown else "without the validation part"
    lacking = f"; no training window of {', '.join(unseen)}" if unseen else ""
    return f"fitted in {outcome.fit_s:.1f} s {shown}{lacking}"
