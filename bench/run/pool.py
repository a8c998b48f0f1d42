"""Running jobs in several worker processes, each watched to its end."""

import signal
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from filelock import Timeout

from bench.descendants import MOST_PROCESSES
from bench.errors import BenchError
from bench.measure.exclusive import training
from bench.processes import LOST_CODE, Child, stop, wait_for_news
from bench.results.record import Failure, Outcome
from bench.run import worker
from bench.run.cell_lock import is_locked, locked, sweep
from bench.run.ended import Ended
from bench.run.failure import record_failure
from bench.run.job import Job
from bench.run.news import Position
from bench.run.resources import least_used

RETRIES = 2
RETRY_S = 1.0
LOCKED_RETRY_S = 2.0
COUNT_S = 1.0


@dataclass(frozen=True)
class Started:
    """A worker has begun a job."""

    job: Job


@dataclass(frozen=True)
class Progress:
    """A job's training has moved."""

    job: Job
    position: Position


@dataclass(frozen=True)
class Finished:
    """A job has a record, or was found done."""

    job: Job
    ended: Ended


Event = Started | Progress | Finished


@dataclass(frozen=True)
class _Waiting:
    job: Job
    attempt: int = 1
    not_before: float = 0.0

    def later(self, seconds: float, *, attempt: int) -> "_Waiting":
        return replace(self, attempt=attempt, not_before=time.monotonic() + seconds)


@dataclass
class _Running:
    waiting: _Waiting
    child: Child
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.monotonic)
    counted: float = field(default_factory=time.monotonic)
    ended: Ended | None = None

    @property
    def job(self) -> Job:
        return self.waiting.job

    def n_processes(self) -> int:
        """Return how many processes the worker has started, as counted now and then; 0 in between."""
        now = time.monotonic()
        if now - self.counted < COUNT_S:
            return 0
        self.counted = now
        return self.child.count_started()


def run_jobs(
    jobs: Sequence[Job], *, n_workers: int, timeout_s: float | None = None, gpus: Sequence[str] = ()
) -> Generator[Event]:
    """Run jobs and yield what happens; stop the workers when the caller stops listening.

    A worker that dies by a signal, or that disk, data or machine fail, is tried again twice; one that lacks memory,
    once with half the micro-batch. A job whose cell another process holds waits until that process is done with it.

    Parameters
    ----------
    jobs
        Cells to train.
    n_workers
        How many at once.
    timeout_s
        Longest time of one cell.
    gpus
        GPUs for the workers, one each, shared evenly.

    Raises
    ------
    BenchError
        Disk or data fail again and again, which leaves no record; not even that of a failure can be written; or no
        worker can be started. Finished cells are kept.
    """
    if jobs:
        # Waits for the end of a measurement on this device.
        with training(jobs[0].device):
            yield from _run(jobs, n_workers, timeout_s, gpus)


def _run(
    jobs: Sequence[Job], n_workers: int, timeout_s: float | None, gpus: Sequence[str]
) -> Iterator[Event]:
    queue = deque(_Waiting(job) for job in jobs)
    running: list[_Running] = []
    try:
        while queue or running:
            while len(running) < n_workers and (following := _next_due(queue)) is not None:
                gpu = least_used(gpus, [cell.job.gpu for cell in running])
                job = following.job.on_gpu(gpu)
                running.append(_Running(replace(following, job=job), Child(worker.main, job)))
                yield Started(following.job)
            _sleep(running, queue)
            for cell in list(running):
                alive = cell.child.process.is_alive()
                yield from _news_of(cell)
                if not alive:
                    running.remove(cell)
                    yield from _conclude(cell, queue)
                elif timeout_s is not None and time.monotonic() - cell.clock > timeout_s:
                    running.remove(cell)
                    yield from _stop_late(cell, queue, timeout_s)
                elif (n_processes := cell.n_processes()) > MOST_PROCESSES:
                    running.remove(cell)
                    yield from _stop_crowd(cell, queue, n_processes)
    finally:
        _stop(running)


def _next_due(queue: deque[_Waiting]) -> _Waiting | None:
    """Take the first job that may start; a job whose cell another process holds is checked again later."""
    now = time.monotonic()
    for waiting in [waiting for waiting in queue if waiting.not_before <= now]:
        queue.remove(waiting)
        if not is_locked(waiting.job.folder):
            return waiting
        queue.append(waiting.later(LOCKED_RETRY_S, attempt=waiting.attempt))
    return None


def _sleep(running: list[_Running], queue: deque[_Waiting]) -> None:
    """Sleep until a worker sends something or ends, or a waiting job is due; a second at most."""
    if running:
        wait_for_news([cell.child for cell in running], timeout_s=1.0)
    elif queue:
        due = min(waiting.not_before for waiting in queue)
        time.sleep(min(1.0, max(0.0, due - time.monotonic())))


def _news_of(cell: _Running) -> Iterator[Event]:
    """Yield the progress that a worker has sent, and store its `Ended` if it sent one."""
    for news in cell.child.received():
        if isinstance(news, Position):
            yield Progress(cell.job, news)
        else:
            cell.ended = news


def _conclude(cell: _Running, queue: deque[_Waiting]) -> Iterator[Event]:
    """Yield the end of a job, or put the job back in the queue."""
    cell.child.end()
    ended, attempt = cell.ended or _death_of(cell), cell.waiting.attempt
    if ended.outcome == "locked":
        queue.append(cell.waiting.later(LOCKED_RETRY_S, attempt=attempt))
    elif ended.outcome == "too-large" and (smaller := cell.job.smaller()) is not None:
        queue.append(_Waiting(smaller))
    elif ended.outcome in ("disk", "fault") and attempt <= RETRIES:
        queue.append(cell.waiting.later(RETRY_S, attempt=attempt + 1))
    elif ended.outcome == "disk":
        assert ended.failure is not None
        raise BenchError(
            f"{cell.job.cell.label}: {ended.failure.message}; the run has stopped, this cell has no record: make room, "
            "or bring disk and data back, and run the same command again: finished cells and epochs are kept"
        )
    elif ended.outcome in ("fault", "too-large", "died"):
        assert ended.failure is not None
        yield from _fail(cell, queue, "failed", ended.failure)
    else:
        yield Finished(cell.job, ended)


def _death_of(cell: _Running) -> Ended:
    """Return the end of a worker that sent none: by a signal, which may pass, or by its own code.

    A worker's exit code is unknown if the fork server died; the worker was ended then.
    """
    code = cell.child.exit_code
    by_fault = code < 0 or code == LOST_CODE
    message = f"the worker died ({cell.child.death}) in attempt {cell.waiting.attempt}; its log: {cell.job.folder.log}"
    return Ended("fault" if by_fault else "died", failure=Failure(kind="WorkerDied", message=message))


def _stop_late(cell: _Running, queue: deque[_Waiting], timeout_s: float) -> Iterator[Finished]:
    _stop([cell], worker.LATE)
    remedy = "raise --cell-timeout and give --retry-failed to continue from its checkpoint"
    message = f"not finished after {timeout_s:g} s; {remedy}"
    yield from _fail(cell, queue, "timeout", Failure(kind="Timeout", message=message))


def _stop_crowd(cell: _Running, queue: deque[_Waiting], n_processes: int) -> Iterator[Finished]:
    cell.child.end()
    _stop([cell])
    message = (
        f"had {n_processes} processes at once, more than {MOST_PROCESSES}; mend the code that starts them"
    )
    yield from _fail(cell, queue, "failed", Failure(kind="TooManyProcesses", message=message))


def _fail(cell: _Running, queue: deque[_Waiting], outcome: Outcome, failure: Failure) -> Iterator[Finished]:
    """Write the record of a worker that wrote none; if another run holds the cell now, wait for its record."""
    try:
        yield Finished(cell.job, record_failure(cell.job, outcome, failure, cell.started))
    except Timeout:
        queue.append(cell.waiting.later(LOCKED_RETRY_S, attempt=cell.waiting.attempt))


def _stop(running: Sequence[_Running], first: signal.Signals = signal.SIGTERM) -> None:
    """Stop workers and remove what they were writing."""
    stop([cell.child for cell in running], first)
    for cell in running:
        # If another run holds the cell, or the disk refuses, the next run of the cell sweeps.
        with suppress(OSError), locked(cell.job.folder):
            sweep(cell.job.folder)
