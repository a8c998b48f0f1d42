"""A clock for each kind of device, which waits for the work to end."""

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

Work = Callable[[], None]


class Clock(Protocol):
    """What measures one run."""

    def time(self, work: Work) -> float:
        """Run ``work`` and return its seconds, from its start on the device to its end there."""
        ...


class CpuClock:
    """Wall time: on a CPU work is done when its call returns."""

    def time(self, work: Work) -> float:
        """Run ``work`` and return its seconds."""
        started = time.perf_counter()
        work()
        return time.perf_counter() - started


class CudaClock:
    """Events in the device's own queue around the work, read after the second one has happened.

    Calls return before their work is done, so the CPU's clock would not measure it. ``cuda`` is `torch.cuda`, or
    a test's replacement.
    """

    def __init__(self, cuda: "ModuleType | Any") -> None:
        self.cuda = cuda

    def time(self, work: Work) -> float:
        """Run ``work`` and return its seconds."""
        first, second = (self.cuda.Event(enable_timing=True) for _ in range(2))
        self.cuda.synchronize()  # wait for earlier work in the queue
        first.record()
        work()
        second.record()
        second.synchronize()
        return first.elapsed_time(second) / 1000


def clock_of(device: str) -> Clock:
    """Return the clock of a device, ``cpu`` or ``cuda``."""
    if device == "cpu":
        return CpuClock()
    import torch

    return CudaClock(torch.cuda)
