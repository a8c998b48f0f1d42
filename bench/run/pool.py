"""Running jobs in worker processes: as many at once as asked, each watched to its end."""

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess

from bench.results.record import Epoch, Failure, Outcome
from bench.run import worker
from bench.run.job import Job
from bench.run.worker import Ended

# Loaded once in the fork server, so that a cell starts in a moment; importing them runs no tensor operation.
PRELOAD = ["torch", "sklearn.metrics", "scipy.special", "bench.run.cell"]
SIGNAL_RETRIES = 2
LOCKED_RETRY_S = 2.0
GRACE_S = 5.0


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


@dataclass
class _Waiting:
    job: Job
    attempt: int = 1
    not_before: float = 0.0


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


def run_jobs(jobs: Sequence[Job], *, n_workers: int, timeout_s: float | None = None) -> Iterator[Event]:
    """Run jobs and yield what happens; stop the workers when the caller stops listening.

    A worker that dies by a signal is tried again twice; one that lacks memory, once with half the micro-batch. A
    job whose cell another process holds waits until that process is done with it.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    queue = deque(_Waiting(job) for job in jobs)
    running: list[_Running] = []
    try:
        while queue or running:
            while len(running) < n_workers and (following := _next_due(queue)) is not None:
                running.append(_start(context, following))
                yield Started(following.job)
            _wait_for_news(running)
            for one in list(running):
                yield from _news_of(one)
                if timeout_s is not None and time.monotonic() - one.clock > timeout_s:
                    yield from _stop_late(one, timeout_s)
                    running.remove(one)
                elif not one.process.is_alive():
                    yield from _news_of(one)
                    running.remove(one)
                    yield from _conclude(one, queue)
    finally:
        _terminate(running)


def _next_due(queue: deque[_Waiting]) -> _Waiting | None:
    now = time.monotonic()
    for one in queue:
        if one.not_before <= now:
            queue.remove(one)
            return one
    return None


def _start(context: ForkServerContext, waiting: _Waiting) -> _Running:
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=worker.main, args=(waiting.job, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Running(waiting, process, ours)


def _wait_for_news(running: list[_Running]) -> None:
    sources: list[Connection | int] = [one.process.sentinel for one in running]
    sources += [one.events for one in running if not one.events.closed]
    if sources:
        wait(sources, timeout=1.0)
    else:
        time.sleep(0.1)


def _news_of(one: _Running) -> Iterator[Event]:
    """Yield the epochs that a worker has sent, and keep how it ended."""
    try:
        while not one.events.closed and one.events.poll():
            news = one.events.recv()
            if isinstance(news, Epoch):
                yield Progress(one.job, news)
            else:
                one.ended = news
    except EOFError:
        one.events.close()


def _conclude(one: _Running, queue: deque[_Waiting]) -> Iterator[Event]:
    """Say how a job ended, or put it back in the queue."""
    one.process.join()
    exit_code = one.process.exitcode or 0
    if one.ended is None:
        yield from _conclude_death(one, exit_code, queue)
    elif one.ended.outcome == "locked":
        queue.append(replace(one.waiting, not_before=time.monotonic() + LOCKED_RETRY_S))
    elif one.ended.outcome == "out-of-memory" and (smaller := _with_less_memory(one.job)) is not None:
        queue.append(_Waiting(smaller))
    else:
        yield Finished(one.job, one.ended)


def _conclude_death(one: _Running, exit_code: int, queue: deque[_Waiting]) -> Iterator[Event]:
    """Handle a worker that went without a word."""
    if exit_code < 0 and one.waiting.attempt <= SIGNAL_RETRIES:
        queue.append(_Waiting(one.job, one.waiting.attempt + 1))
        return
    cause = signal.Signals(-exit_code).name if exit_code < 0 else f"exit code {exit_code}"
    message = f"the worker died ({cause}) in attempt {one.waiting.attempt}; its log: {one.job.folder.log}"
    yield _fail(one, "failed", Failure(kind="WorkerDied", message=message))


def _with_less_memory(job: Job) -> Job | None:
    """Return the job with half the windows per forward pass, or None when that was tried already."""
    training = job.cell.settings.training
    size = training.micro_batch_size or training.batch_size
    return None if job.micro_batch_size is not None or size == 1 else job.with_micro_batch(size // 2)


def _stop_late(one: _Running, timeout_s: float) -> Iterator[Event]:
    _terminate([one])
    message = (
        f"not finished after {timeout_s:g} s; raise --cell-timeout, or run again to go on from its checkpoint"
    )
    yield _fail(one, "timeout", Failure(kind="Timeout", message=message))


def _fail(one: _Running, outcome: Outcome, failure: Failure) -> Finished:
    worker.write_failure(one.job, outcome, failure, one.started)
    return Finished(one.job, Ended(outcome, message=failure.message))


def _terminate(running: list[_Running]) -> None:
    """Stop workers: politely first, then for good."""
    for one in running:
        one.process.terminate()
    for one in running:
        one.process.join(GRACE_S)
        if one.process.is_alive():
            one.process.kill()
            one.process.join()
        one.events.close()
