"""The process of one cell: lock, log, run, and a record for every way it can end."""

import errno
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Literal

from filelock import Timeout

from bench import datasets
from bench.models import registry as models
from bench.results.record import Epoch, Failure, Outcome
from bench.results.store import find_record, quarantine_damaged
from bench.run.claim import claim, sweep
from bench.run.determinism import forbid_any_order
from bench.run.failure import write_failure
from bench.run.job import Job

# What a disk, a mount or a crowded machine says; anything else that the system refuses is a mistake in code.
IO_FAULTS = frozenset(
    getattr(errno, name)
    for name in (
        *(
            "EIO",
            "ENOSPC",
            "EDQUOT",
            "EFBIG",
            "EROFS",
            "ESTALE",
            "EREMOTEIO",
            "ETIMEDOUT",
            "ENOTCONN",
            "ESHUTDOWN",
        ),
        *("EBUSY", "EAGAIN", "EINTR", "EMFILE", "ENFILE", "ENOLCK", "ENODEV", "ENXIO"),
    )
    if hasattr(errno, name)
)


@dataclass(frozen=True)
class Ended:
    """How a worker ended.

    Its cell has a record of this outcome; or another process holds the cell; or there is no record yet: the fault may
    pass, half the memory may do, or the worker ``died`` by its own code. Whoever started the worker decides.
    """

    outcome: Outcome | Literal["already-done", "locked", "fault", "too-large", "died"]
    test_f1: float | None = None
    message: str = ""
    failure: Failure | None = None


def main(job: Job, events: Connection) -> None:
    """Run one cell in this process and send its epochs and its end through ``events``."""
    # Ctrl-C goes to the whole terminal's group; the parent decides and sends SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    if job.gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = job.gpu
    models.register(job.model)
    datasets.register(job.dataset)
    try:
        with claim(job.folder):
            events.send(_run_locked(job, events.send))
    except Timeout:
        events.send(Ended("locked"))
    except OSError as error:
        if not is_io_fault(error):
            raise
        events.send(Ended("fault", failure=_failure(error)))


def die_with_parent() -> None:
    """End this process when the one that asked for it is gone, so that no orphan trains on."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def is_io_fault(error: BaseException | None) -> bool:
    """Tell whether an exception, or one that it was raised from, is a fault of disk, mount or machine."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in IO_FAULTS:
            return True
        error = error.__cause__
    return False


def _run_locked(job: Job, on_epoch: Callable[[Epoch], None]) -> Ended:
    sweep(job.folder)
    done = find_record(job.out, job.name, job.cell.key)
    if done is not None and done.is_done:
        return Ended("already-done")
    quarantine_damaged(job.out, job.name, job.cell.key)
    with job.folder.log.open("a", encoding="utf-8", buffering=1) as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
        return _run(job, on_epoch)


def _run(job: Job, on_epoch: Callable[[Epoch], None]) -> Ended:
    """Run the cell; the only place where every exception becomes a record instead of going on."""
    import torch

    from bench.run.cell import run_cell

    torch.set_num_threads(job.threads)
    started = datetime.now(UTC)
    try:
        if job.deterministic:
            forbid_any_order(job.device)
        record = run_cell(job, on_epoch)
    except Exception as error:
        return _failed(job, error, started)
    assert record.metrics is not None
    return Ended("ok", test_f1=record.metrics.test.f1)


def _failed(job: Job, error: Exception, started: datetime) -> Ended:
    """Write the record of a cell that raised, unless it is to be tried again."""
    from bench.measure.memory import is_lack_of_memory
    from bench.train.scores import DivergedError

    failure = _failure(error)
    if is_io_fault(error):
        return Ended("fault", failure=failure)
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
