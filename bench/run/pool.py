"""Running jobs in worker processes: as many at once as asked, each watched to its end."""

import signal
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess

from filelock import Timeout

from bench.errors import BenchError
from bench.measure.exclusive import training
from bench.results.record import Epoch, Failure, Outcome
from bench.run import worker
from bench.run.cell_lock import claim, is_held, sweep
from bench.run.ended import Ended
from bench.run.failure import record_failure
from bench.run.fork_server import fork_server
from bench.run.gpus import least_used
from bench.run.job import Job

RETRIES = 2
RETRY_S = 1.0
LOCKED_RETRY_S = 2.0
GRACE_S = 5.0
# How long one fork server after the other may die before the run ends.
FORK_SERVER_S = 60.0
# What multiprocessing gives for a process whose fork server died.
LOST_CODE = 255


@dataclass(frozen=True)
class Started:
    """A worker has begun a job."""

    job: Job


@dataclass(frozen=True)
class Progress:
    """A job has finished an epoch."""

    job: Job
    epoch: Epoch


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
    process: ForkServerProcess
    events: Connection
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.monotonic)
    ended: Ended | None = None

    @property
    def job(self) -> Job:
        return self.waiting.job


def run_jobs(
    jobs: Sequence[Job], *, n_workers: int, timeout_s: float | None = None, gpus: Sequence[str] = ()
) -> Generator[Event]:
    """Run jobs and yield what happens; stop the workers when the caller stops listening.

    A worker that dies by a signal, or that disk or mount fail, is tried again twice; one that lacks memory, once
    with half the micro-batch. A job whose cell another process holds waits until that process is done with it.

    Parameters
    ----------
    jobs
        Cells to train.
    n_workers
        How many at once.
    timeout_s
        Longest time of one cell.
    gpus
        Handed to the workers, one each, so that they are shared evenly.

    Raises
    ------
    BenchError
        Not even the record of a failure can be written, or no worker can be started; what is finished is kept.
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
                gpu = least_used(gpus, [one.job.gpu for one in running])
                running.append(_start(replace(following, job=following.job.on_gpu(gpu))))
                yield Started(following.job)
            _wait_for_news(running, queue)
            for one in list(running):
                yield from _news_of(one)
                if timeout_s is not None and time.monotonic() - one.clock > timeout_s:
                    running.remove(one)
                    yield from _stop_late(one, queue, timeout_s)
                elif not one.process.is_alive():
                    yield from _news_of(one)
                    running.remove(one)
                    yield from _conclude(one, queue)
    finally:
        _terminate(running)


def _next_due(queue: deque[_Waiting]) -> _Waiting | None:
    """Take the first job that may start; one that another process holds is looked at again later."""
    now = time.monotonic()
    for one in [one for one in queue if one.not_before <= now]:
        queue.remove(one)
        if not is_held(one.job.folder):
            return one
        queue.append(one.later(LOCKED_RETRY_S, attempt=one.attempt))
    return None


def _start(waiting: _Waiting) -> _Running:
    """Start a worker; when the fork server has just died, wait until multiprocessing notices and starts another.

    Raises
    ------
    BenchError
        One after the other dies.
    """
    deadline = time.monotonic() + FORK_SERVER_S
    while True:
        try:
            return _start_once(waiting)
        except (ConnectionError, EOFError) as error:
            if time.monotonic() > deadline:
                raise BenchError(
                    "the process that workers are forked from dies again and again, perhaps for want of memory; "
                    "what is finished is kept, 'bench run' goes on from there"
                ) from error
            time.sleep(0.1)


def _start_once(waiting: _Waiting) -> _Running:
    context = fork_server()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=worker.main, args=(waiting.job, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Running(waiting, process, ours)


def _wait_for_news(running: list[_Running], queue: deque[_Waiting]) -> None:
    """Sleep until a worker says something or ends, or a waiting job is due; a second at most."""
    sources: list[Connection | int] = [one.process.sentinel for one in running]
    sources += [one.events for one in running if not one.events.closed]
    if sources:
        wait(sources, timeout=1.0)
    elif queue:
        time.sleep(min(1.0, max(0.0, min(one.not_before for one in queue) - time.monotonic())))


def _news_of(one: _Running) -> Iterator[Event]:
    """Yield the epochs that a worker has sent, and keep how it ended."""
    try:
        while not one.events.closed and one.events.poll():
            news = one.events.recv()
            if isinstance(news, Epoch):
                yield Progress(one.job, news)
            else:
                one.ended = news
    except (EOFError, OSError):
        # Its end; an OSError where it was killed within a message.
        one.events.close()


def _conclude(one: _Running, queue: deque[_Waiting]) -> Iterator[Event]:
    """Say how a job ended, or put it back in the queue."""
    one.process.join()
    ended, attempt = one.ended or _death_of(one), one.waiting.attempt
    if ended.outcome == "locked":
        queue.append(one.waiting.later(LOCKED_RETRY_S, attempt=attempt))
    elif ended.outcome == "too-large" and (smaller := one.job.smaller()) is not None:
        queue.append(_Waiting(smaller))
    elif ended.outcome == "fault" and attempt <= RETRIES:
        queue.append(one.waiting.later(RETRY_S, attempt=attempt + 1))
    elif ended.outcome in ("fault", "too-large", "died"):
        assert ended.failure is not None
        yield from _fail(one, queue, "failed", ended.failure)
    else:
        yield Finished(one.job, ended)


def _death_of(one: _Running) -> Ended:
    """Say how a worker went that said nothing: by a signal, which may pass, or by its own code.

    The code of a worker is not known when the fork server dies; the worker itself may live on and hold its cell.
    """
    code = one.process.exitcode or 0
    by_fault = code < 0 or code == LOST_CODE
    cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    message = f"the worker died ({cause}) in attempt {one.waiting.attempt}; its log: {one.job.folder.log}"
    return Ended("fault" if by_fault else "died", failure=Failure(kind="WorkerDied", message=message))


def _stop_late(one: _Running, queue: deque[_Waiting], timeout_s: float) -> Iterator[Finished]:
    _terminate([one])
    remedy = "raise --cell-timeout and give --retry-failed to go on from its checkpoint"
    message = f"not finished after {timeout_s:g} s; {remedy}"
    yield from _fail(one, queue, "timeout", Failure(kind="Timeout", message=message))


def _fail(one: _Running, queue: deque[_Waiting], outcome: Outcome, failure: Failure) -> Iterator[Finished]:
    """Write the record of a worker that wrote none; where another run holds the cell now, wait for what it records."""
    try:
        yield Finished(one.job, record_failure(one.job, outcome, failure, one.started))
    except Timeout:
        queue.append(one.waiting.later(LOCKED_RETRY_S, attempt=one.waiting.attempt))


def _terminate(running: Sequence[_Running]) -> None:
    """Stop workers, politely first, then for good, and remove what they were writing."""
    for one in running:
        one.process.terminate()
    for one in running:
        one.process.join(GRACE_S)
        if one.process.is_alive():
            one.process.kill()
            one.process.join()
        one.events.close()
        _sweep_unless_held(one.job)


def _sweep_unless_held(job: Job) -> None:
    try:
        with claim(job.folder):
            sweep(job.folder)
    except OSError:
        # Another run holds the cell, or the disk refuses; whoever takes the cell next sweeps too.
        return
