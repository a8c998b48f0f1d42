"""The process of one cell: lock, log, run, and a record for every way it can end."""

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Literal

from filelock import FileLock, Timeout

from bench import datasets
from bench.models import registry as models
from bench.results.record import Epoch, Failure, Outcome, Record, Timing
from bench.results.store import find_record, quarantine_damaged, write_record
from bench.run import environment
from bench.run.job import Job


@dataclass(frozen=True)
class Ended:
    """How a worker ended: its cell has a record of this outcome, or another process holds the cell."""

    outcome: Outcome | Literal["already-done", "locked"]
    test_f1: float | None = None
    message: str = ""


def main(job: Job, events: Connection) -> None:
    """Run one cell in this process and send its epochs and its end through ``events``."""
    # Ctrl-C goes to the whole terminal's group; the parent decides and sends SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    models.register(job.model)
    datasets.register(job.dataset)
    job.folder.path.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(job.folder.lock, blocking=False):
            events.send(_run_locked(job, events))
    except Timeout:
        events.send(Ended("locked"))


def _die_with_parent() -> None:
    """End this process when the one that asked for it is gone, so that no orphan trains on."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_locked(job: Job, events: Connection) -> Ended:
    done = find_record(job.out, job.name, job.cell.key)
    if done is not None and done.is_done:
        return Ended("already-done")
    quarantine_damaged(job.out, job.name, job.cell.key)
    with job.folder.log.open("a", encoding="utf-8", buffering=1) as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
        return _run(job, events)


def _run(job: Job, events: Connection) -> Ended:
    """Run the cell; the only place where every exception becomes a record instead of going on."""
    import torch

    from bench.run.cell import run_cell
    from bench.train.scores import DivergedError

    torch.set_num_threads(job.threads)
    started = datetime.now(UTC)

    def on_epoch(epoch: Epoch) -> None:
        events.send(epoch)

    try:
        record = run_cell(job, on_epoch)
    except Exception as error:
        traceback.print_exc()
        outcome: Outcome = "failed"
        if isinstance(error, DivergedError):
            outcome = "diverged"
        elif isinstance(error, MemoryError | torch.OutOfMemoryError) or "not enough memory" in str(error):
            outcome = "out-of-memory"
        failure = Failure(kind=type(error).__name__, message=str(error), traceback=traceback.format_exc())
        write_failure(job, outcome, failure, started)
        return Ended(outcome, message=f"{failure.kind}: {failure.message}")
    assert record.metrics is not None
    return Ended("ok", test_f1=record.metrics.test.f1)


def write_failure(job: Job, outcome: Outcome, failure: Failure, started: datetime) -> None:
    """Write the record of a cell that has no scores."""
    settings = job.cell.settings
    record = Record(
        schema=1,
        key=job.cell.key,
        cell=job.name,
        settings=settings.model_dump(mode="json"),
        revisions=job.cell.revisions,
        outcome=outcome,
        error=failure,
        timing=Timing(
            started=started.isoformat(timespec="seconds"),
            total_s=(datetime.now(UTC) - started).total_seconds(),
        ),
        environment=environment.describe(job.device, job.threads, settings.training.precision, None),
        data=job.cell.data.description,
    )
    write_record(job.folder, record)
