"""The process of one model: loads it, then runs what it is told to, one workload at a time.

Every answer is a `Loaded`, a `Visited` or a `Broke`. A process that lacks memory may also die without one.
"""

import gc
import importlib
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from bench.measure.clock import Clock, clock_of
from bench.measure.memory import is_lack_of_memory, limit_memory, peak_bytes
from bench.measure.workload import Subject, Workload, prepare
from bench.models import registry

if TYPE_CHECKING:
    from torch import nn

MOST_RUNS = 1000


@dataclass(frozen=True)
class Ask:
    """Run a workload for at least so many seconds, at least once."""

    workload: Workload
    at_least_s: float


@dataclass(frozen=True)
class Loaded:
    """The model is on its device. ``before_bytes`` is the peak of memory before it was built."""

    load_s: float
    before_bytes: int
    scan_backend: str | None


@dataclass(frozen=True)
class Visited:
    """Seconds of every run, and the peak of memory since the process began."""

    seconds: tuple[float, ...]
    peak_bytes: int


@dataclass(frozen=True)
class Broke:
    """It could not be done."""

    out_of_memory: bool
    message: str
    traceback: str


def main(subject: Subject, connection: Connection) -> None:
    """Serve one model until the other end is closed."""
    try:
        model = _load(subject, connection)
        session = Session(subject, model, clock_of(subject.device))
        while True:
            connection.send(session.answer(connection.recv()))
    except EOFError:
        return
    except Exception as error:
        # Said to the parent, which decides; this process is of no more use.
        connection.send(
            Broke(is_lack_of_memory(error), f"{type(error).__name__}: {error}", traceback.format_exc())
        )


def _load(subject: Subject, connection: Connection) -> "nn.Module":
    import torch

    torch.set_num_threads(subject.threads)
    importlib.import_module(registry.entry(subject.model).module)
    _wake(subject.device)
    if subject.device == "cpu" and subject.memory_limit_bytes is not None:
        limit_memory(subject.memory_limit_bytes)
    before = peak_bytes(subject.device)
    started = time.perf_counter()
    model = subject.load()
    if subject.device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    connection.send(Loaded(seconds, before, getattr(model, "scan_backend", None)))
    return model


def _wake(device: str) -> None:
    """Have the device's libraries loaded, so that they are neither in the model's memory nor in its time."""
    import torch

    matrix = torch.ones(256, 256, device=device)
    torch.nn.functional.linear(matrix, matrix).softmax(-1).sum().item()


class Session:
    """A loaded model, and the workload that it was last asked for."""

    def __init__(self, subject: Subject, model: "nn.Module", clock: Clock) -> None:
        self.subject, self.model, self.clock = subject, model, clock
        self.workload: Workload | None = None
        self.run: Callable[[], None] | None = None
        self.last_s = 0.0

    def answer(self, ask: Ask) -> Visited:
        """Run a workload; the first run of each is not counted, nor one after a pause where runs are short."""
        if ask.workload != self.workload or self.run is None:
            self.run, self.workload = None, None  # the old one's memory goes first
            self.run = prepare(self.model, self.subject, ask.workload)
            self.workload, self.last_s = ask.workload, 0.0
        seconds = timed_runs(self.run, self.clock, ask.at_least_s, warm_up=self.last_s < ask.at_least_s)
        self.last_s = seconds[-1]
        # To a tenth of a microsecond: more is noise, and records keep every run.
        return Visited(tuple(round(one, 7) for one in seconds), peak_bytes(self.subject.device))


def timed_runs(run: Callable[[], None], clock: Clock, at_least_s: float, *, warm_up: bool) -> list[float]:
    """Return the seconds of runs in a row, as many as fill the time; one more goes before them to warm up."""
    gc.collect()
    gc.disable()
    try:
        if warm_up:
            clock.time(run)
        seconds = [clock.time(run)]
        while sum(seconds) < at_least_s and len(seconds) < MOST_RUNS:
            seconds.append(clock.time(run))
        return seconds
    finally:
        gc.enable()
