import time
from collections.abc import Callable
from typing import Any

import pytest

from bench.measure.clock import Clock, CpuClock, CudaClock, clock_of


class AsynchronousDevice:
    """Stands for `torch.cuda`: calls return at once, and work is done in order when somebody waits."""

    def __init__(self) -> None:
        self.queue: list[Callable[[], None]] = []
        self.now_ms = 0.0

    def submit(self, milliseconds: float) -> None:
        def work() -> None:
            self.now_ms += milliseconds

        self.queue.append(work)

    def synchronize(self) -> None:
        while self.queue:
            self.queue.pop(0)()

    def Event(self, enable_timing: bool) -> "Event":
        assert enable_timing
        return Event(self)


class Event:
    def __init__(self, device: AsynchronousDevice) -> None:
        self.device = device
        self.at_ms: float | None = None

    def record(self) -> None:
        def happen() -> None:
            self.at_ms = self.device.now_ms

        self.device.queue.append(happen)

    def synchronize(self) -> None:
        while self.at_ms is None:
            self.device.queue.pop(0)()

    def elapsed_time(self, other: "Event") -> float:
        if self.at_ms is None or other.at_ms is None:
            raise RuntimeError("an event has not happened yet")
        return other.at_ms - self.at_ms


class HastyClock:
    """What published harnesses do: the CPU's time around a call that returns at once."""

    def __init__(self, _device: AsynchronousDevice) -> None:
        self.cpu = CpuClock()

    def time(self, work: Callable[[], None]) -> float:
        return self.cpu.time(work)


def check_clock_waits(make: Callable[[Any], Clock]) -> None:
    device = AsynchronousDevice()
    assert make(device).time(lambda: device.submit(250.0)) == pytest.approx(0.25)


def check_clock_leaves_out_earlier_work(make: Callable[[Any], Clock]) -> None:
    device = AsynchronousDevice()
    device.submit(1000.0)
    assert make(device).time(lambda: device.submit(250.0)) == pytest.approx(0.25)


@pytest.mark.parametrize("check", [check_clock_waits, check_clock_leaves_out_earlier_work])
def test_cuda_clock_measures_the_work(check: Callable[[Callable[[Any], Clock]], None]) -> None:
    check(CudaClock)


def test_checks_find_a_clock_that_does_not_wait() -> None:
    with pytest.raises(AssertionError, match=r"0\.25"):
        check_clock_waits(HastyClock)


def test_cpu_clock_measures_wall_time(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([10.0, 12.5])
    monkeypatch.setattr(time, "perf_counter", lambda: next(readings))
    assert CpuClock().time(lambda: None) == 2.5


def test_each_device_has_its_clock() -> None:
    assert isinstance(clock_of("cpu"), CpuClock)
    assert isinstance(clock_of("cuda"), CudaClock)
