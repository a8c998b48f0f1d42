"""The largest batch that fits, and the peak of memory, each in a process of its own."""

from dataclasses import dataclass, replace

from bench.measure.child import Loaded
from bench.measure.process import DoesNotFitError, ModelProcess
from bench.measure.workload import Subject, Workload


@dataclass(frozen=True)
class Probe:
    """The findings of one fresh process.

    ``workload`` is the one asked for, or the largest by halving its batch that fits. ``memory_bytes`` is what it took
    beyond the process without a model: weights, windows, activations, and in training gradients and optimiser, whose
    state the second step finds there.
    """

    workload: Workload
    loaded: Loaded
    seconds: tuple[float, ...]
    peak_bytes: int

    @property
    def memory_bytes(self) -> int:
        """Return the peak beyond what the process held before."""
        return self.peak_bytes - self.loaded.before_bytes


def probe(subject: Subject, workload: Workload, *, limit_s: float, at_least_s: float = 0.0) -> Probe:
    """Run a workload in a fresh process.

    Raises
    ------
    DoesNotFitError, TookTooLongError, ProcessError
        The workload could not be run.
    """
    with ModelProcess(subject) as process:
        visited = process.visit(workload, at_least_s, limit_s)
        return Probe(workload, process.loaded, visited.seconds, visited.peak_bytes)


def largest_that_fits(subject: Subject, workload: Workload, *, limit_s: float) -> Probe:
    """Run a workload in a fresh process, with half the batch after each lack of memory.

    Raises
    ------
    DoesNotFitError
        Not even one window fits.
    TookTooLongError, ProcessError
        It could not be run for another reason.
    """
    while True:
        try:
            return probe(subject, workload, limit_s=limit_s)
        except DoesNotFitError:
            if workload.batch == 1:
                raise
            workload = replace(workload, batch=workload.batch // 2)
