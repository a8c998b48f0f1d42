"""Cells as runs of MLflow in a folder, written by MLflow's own client; no server is asked or told anything."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.results.metrics import METRICS
from bench.results.record import Record
from bench.results.store import require_writable

RECORD_TAG = "medmamba_bench.record"
"""Tells the runs of records: the same record is never written twice."""
_ENVIRONMENT = {"MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
"""Newer versions of MLflow ask for leave to write to a folder, and tell their maker of their use."""
_MOST_AT_ONCE = 500


def write_runs(records: Sequence[Record], folder: Path) -> int:
    """Write a run for each record that has none there yet; return the number of new runs.

    A dataset is an experiment. A run has the settings as parameters, scores as ``test_f1`` and the like, fractions
    of one, and the history of its epochs as steps.

    Raises
    ------
    BenchError
        The folder cannot be written.
    """
    with _client(folder) as client:
        experiments = {
            name: _experiment(client, name) for name in {record.cell.dataset for record in records}
        }
        known = _written(client, list(experiments.values()))
        new = [record for record in records if _mark(record) not in known]
        for record in new:
            _write_run(client, experiments[record.cell.dataset], record)
    return len(new)


@contextmanager
def _client(folder: Path) -> Iterator[Any]:
    """Give a client of a folder; the environment that it needs is taken back."""
    require_writable(folder)
    kept = dict(os.environ)
    os.environ.update(_ENVIRONMENT)
    try:
        from mlflow.tracking import MlflowClient  # pyright: ignore[reportMissingImports] an extra

        yield MlflowClient(tracking_uri=folder.absolute().as_uri())
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _experiment(client: Any, name: str) -> str:
    found = client.get_experiment_by_name(name)
    return client.create_experiment(name) if found is None else found.experiment_id


def _written(client: Any, experiments: list[str]) -> set[str]:
    """Return the marks of the runs that are there."""
    marks: set[str] = set()
    token = None
    while True:
        page = client.search_runs(experiments, page_token=token)
        marks |= {run.data.tags[RECORD_TAG] for run in page if RECORD_TAG in run.data.tags}
        token = page.token
        if not token:
            return marks


def _mark(record: Record) -> str:
    return f"{record.cell.recipe} {record.key} {record.timing.started}"


def _write_run(client: Any, experiment: str, record: Record) -> None:
    from mlflow.entities import Metric, Param, RunTag  # pyright: ignore[reportMissingImports] an extra

    started = round(1000 * datetime.fromisoformat(record.timing.started).timestamp())
    ended = started + round(1000 * record.timing.total_s)
    name = f"{record.cell.model} {record.cell.recipe} seed {record.cell.seed}"
    run = client.create_run(experiment, start_time=started, run_name=name, tags={RECORD_TAG: _mark(record)})
    client.log_batch(
        run.info.run_id,
        params=[Param(key, str(value)) for key, value in _parameters(record).items()],
        tags=[RunTag(key, value) for key, value in _tags(record).items()],
    )
    metrics = [Metric(key, value, ended, step) for key, value, step in (*_scores(record), *_history(record))]
    for first in range(0, len(metrics), _MOST_AT_ONCE):
        client.log_batch(run.info.run_id, metrics=metrics[first : first + _MOST_AT_ONCE])
    status = "FINISHED" if record.is_done else "FAILED"
    client.set_terminated(run.info.run_id, status=status, end_time=ended)


def _parameters(record: Record) -> dict[str, Any]:
    settings = record.settings
    groups = {name: settings[name] for name in ("training", "hyperparameters", "data")}
    values = {f"{group}.{name}": value for group, found in groups.items() for name, value in found.items()}
    return {**record.cell.model_dump(), "preset": settings["preset"]["name"], **values}


def _tags(record: Record) -> dict[str, str]:
    data = record.data
    return {
        "key": record.key,
        "outcome": record.outcome,
        "error": "" if record.error is None else record.error.message,
        "data_kind": data.kind,
        "data_version": data.version,
        "fingerprint": data.fingerprint,
        "split": data.split_origin,
        "device": f"{record.environment.device_name} ({record.environment.device})",
    }


def _scores(record: Record) -> Iterator[tuple[str, float, int]]:
    """Yield name, value and step of each score that there is."""
    for part in ("val", "test") if record.metrics is not None else ():
        for name in METRICS:
            value = getattr(getattr(record.metrics, part), name)
            if value is not None:
                yield f"{part}_{name}", value, 0


def _history(record: Record) -> Iterator[tuple[str, float, int]]:
    """Yield name, value and step of what each epoch recorded."""
    for epoch in record.history:
        for name, value in epoch.model_dump(exclude={"epoch"}).items():
            yield f"epoch_{name}", value, epoch.epoch
