"""The process of one model: loads it, then runs the requested workloads, one at a time.

Every answer is a `Loaded`, a `Visited` or a `Broke`. A process that lacks memory may also die without one.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from bench.measure.clock import Clock, clock_of
from bench.measure.memory import (
    give_back_memory,
    is_lack_of_memory,
    keep_freed_memory,
    limit_memory,
    peak_bytes,
    reset_peak,
)
from bench.measure.tf32 import forbid_tf32
from bench.measure.workload import Subject, Workload, prepare

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
    """The model is on its device. ``before_bytes`` is what the process held before it was built."""

    load_s: float
    before_bytes: int


@dataclass(frozen=True)
class Visited:
    """Seconds of every run of a workload, and the peak of memory since the model was built."""

    workload: Workload
    seconds: tuple[float, ...]
    peak_bytes: int


@dataclass(frozen=True)
class Broke:
    """The request failed."""

    out_of_memory: bool
    message: str


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
        # Sent to the parent, which decides; this process ends.
        connection.send(Broke(is_lack_of_memory(error), f"{type(error).__name__}: {error}"))


def _load(subject: Subject, connection: Connection) -> "nn.Module":
    import torch

    torch.set_num_threads(subject.threads)
    forbid_tf32()
    subject.import_model()
    _wake(subject.device)
    gc.collect()
    reset_peak(subject.device)
    before = peak_bytes(subject.device)
    if subject.device == "cpu" and subject.memory_limit_bytes is not None:
        limit_memory(subject.memory_limit_bytes)
    if subject.keeps_memory:
        keep_freed_memory()
    started = time.perf_counter()
    model = subject.load()
    if subject.device == "cuda":
        torch.cuda.synchronize()
    connection.send(Loaded(time.perf_counter() - started, before))
    return model


def _wake(device: str) -> None:
    """Train a small model for a step, so that code loaded at first use counts neither as memory nor as time."""
    import torch
    from torch import nn

    layers = nn.Sequential(nn.Conv1d(16, 16, 3), nn.GELU(), nn.LayerNorm(62), nn.Linear(62, 64)).to(device)
    optimiser = torch.optim.AdamW(layers.parameters())
    for _ in range(2):
        tokens = layers(torch.ones(64, 16, 64, device=device))
        attended = nn.functional.scaled_dot_product_attention(tokens, tokens, tokens, dropout_p=0.1)
        loss = attended.sum() + torch.fft.rfft(attended).abs().sum()
        loss.backward()
        nn.utils.clip_grad_norm_(layers.parameters(), 1.0)
        optimiser.step()


class Session:
    """A loaded model, and the workload that it was last asked for."""

    def __init__(self, subject: Subject, model: "nn.Module", clock: Clock) -> None:
        self.subject, self.model, self.clock = subject, model, clock
        self.workload: Workload | None = None
        self.run: Callable[[], None] | None = None
        self.last_s = 0.0

    def answer(self, ask: Ask) -> Visited:
        """Run a workload, after one run that is not counted where `_wants_warming` says so."""
        warm_up = self._wants_warming(ask)
        if ask.workload != self.workload or self.run is None:
            self.run, self.workload = None, None  # the old one's memory goes first
            if self.subject.keeps_memory:
                give_back_memory()
            self.run = prepare(self.model, self.subject, ask.workload)
            self.workload = ask.workload
        seconds = timed_runs(self.run, self.clock, ask.at_least_s, warm_up=warm_up)
        self.last_s = seconds[-1]
        peak = peak_bytes(self.subject.device)
        if self.subject.device == "cuda":
            import torch

            torch.cuda.empty_cache()  # all models' processes share the GPU; the next may need the memory
        # To a tenth of a microsecond: more is noise, and records keep every run.
        return Visited(ask.workload, tuple(round(run_s, 7) for run_s in seconds), peak)

    def _wants_warming(self, ask: Ask) -> bool:
        """Tell whether a first run would not be like the others, or take memory like them.

        The first step of training has no optimiser's state beside its activations. On a GPU memory was given back. A
        new workload, or a pause where runs are short, finds cold caches.
        """
        if self.subject.device == "cuda":
            return True
        if ask.workload != self.workload:
            return ask.workload.mode == "training" or ask.at_least_s > 0
        return self.last_s < ask.at_least_s


def timed_runs(run: Callable[[], None], clock: Clock, at_least_s: float, *, warm_up: bool) -> list[float]:
    """Return the seconds of consecutive runs that fill the time, after an uncounted warm-up run."""
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
