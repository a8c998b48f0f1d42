"""The process of one cell: lock, log, run, and a record for every way it can end."""

import errno
import faulthandler
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Literal

from filelock import Timeout

from bench.errors import BenchError, DataError
from bench.files import is_disk_fault
from bench.machine import available_bytes
from bench.results.record import Failure, Outcome, Record
from bench.results.store import quarantine_damaged
from bench.run.cell_lock import locked, sweep
from bench.run.computing import forbid_any_order, set_threads
from bench.run.ended import Ended, News, ended_before
from bench.run.failure import drop_stacks, write_failure
from bench.run.job import Job

# Errors of an overloaded machine; any other OSError that is not a disk's is a mistake in code.
OVERLOADED = frozenset({errno.EBUSY, errno.EAGAIN, errno.EINTR, errno.EMFILE, errno.ENFILE, errno.ENOLCK})
# Share of the memory free when a cell starts; the rest is for the system and the growth of other processes.
SHARE_OF_MEMORY = 0.9
# Has a worker write down where it is, and end; at an interruption, which says nothing of the cell, it only ends.
LATE = signal.SIGUSR1

Tell = Callable[[News], None]


def main(job: Job, events: Connection) -> None:
    """Run one cell in this process and send its progress and its end through ``events``."""
    job.introduce()
    tell = teller(events)
    try:
        with locked(job.folder):
            tell(_run_locked(job, tell))
    except Timeout:
        tell(Ended("locked"))
    except (OSError, BenchError) as error:
        passing = _passing(error)
        if passing is None:
            raise
        tell(Ended(passing, failure=_failure(error)))


def teller(events: Connection) -> Tell:
    """Return a function that sends through a connection.

    A worker whose parent has stopped listening continues, since its record holds everything it would send.
    """

    def tell(news: News) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            events.send(news)

    return tell


def _passing(error: BaseException | None) -> Literal["disk", "fault"] | None:
    """Tell whether an exception says nothing of the cell: a disk or data that are not there, or a machine at its limit.

    The data was complete when the cell was planned.
    """
    if isinstance(error, DataError) or is_disk_fault(error):
        return "disk"
    while error is not None:
        if isinstance(error, OSError) and error.errno in OVERLOADED:
            return "fault"
        error = error.__cause__
    return None


def _run_locked(job: Job, tell: Tell) -> Ended:
    sweep(job.folder)
    before = ended_before(job)
    if before is not None:
        return before
    quarantine_damaged(job.out, job.name, job.cell.key)
    drop_stacks(job.folder)
    with job.folder.log.open("a", encoding="utf-8", buffering=1) as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
        if sys.warnoptions == ["ignore"]:
            # They are kept off a terminal, and this is none.
            warnings.simplefilter("default")
        # If a process crashes, or is ended by its parent at the time limit, the log shows the line.
        faulthandler.enable(log)
        faulthandler.register(LATE, log, chain=True)
        return _run(job, tell)


def _run(job: Job, tell: Tell) -> Ended:
    """Run the cell; the only place where every exception becomes a record instead of going on."""
    started = datetime.now(UTC)
    try:
        _limit(job)
        if job.deterministic:
            forbid_any_order(job.device)
        record, note = _recorded(job, tell)
    except (Exception, SystemExit) as error:
        return _failed(job, error, started)
    if record.validation is not None:
        return Ended("ok", val_f1=record.validation.f1, message=note)
    assert record.metrics is not None
    return Ended("ok", test_f1=record.metrics.test.f1, message=note)


def _recorded(job: Job, tell: Tell) -> tuple[Record, str]:
    """Train the cell's network, try a configuration of it, or fit its estimator."""
    if job.cell.settings.is_estimator:
        from bench.run.cells.fit_cell import fit_cell

        return fit_cell(job)
    if job.cell.settings.candidate is not None:
        from bench.run.cells.tune_cell import tune_cell

        return tune_cell(job, tell)
    from bench.run.cells.train_cell import run_cell

    return run_cell(job, tell)


def _limit(job: Job) -> None:
    """Limit this process to its threads and, on a CPU, to its memory, since the system kills without a message."""
    from bench.measure.memory import limit_memory

    set_threads(job.threads)
    if job.device == "cpu":
        limit_memory(job.memory_bytes or int(SHARE_OF_MEMORY * available_bytes()))


def _failed(job: Job, error: Exception | SystemExit, started: datetime) -> Ended:
    """Write the record of a cell that raised, unless it is to be tried again."""
    from bench.measure.memory import is_lack_of_memory
    from bench.train.scores import DivergedError

    failure = _failure(error)
    passing = _passing(error)
    if passing is not None:
        return Ended(passing, failure=failure)
    print(failure.traceback, file=sys.stderr)
    outcome: Outcome = "failed"
    if isinstance(error, DivergedError):
        outcome = "diverged"
    elif is_lack_of_memory(error):
        if job.smaller() is not None:
            return Ended("too-large", failure=failure)
        outcome = "out-of-memory"
    write_failure(job, outcome, failure, started)
    return Ended(outcome, message=f"{failure.kind}: {failure.message}")


def _failure(error: BaseException) -> Failure:
    text = "".join(traceback.format_exception(error))
    return Failure(kind=type(error).__name__, message=str(error), traceback=text)
