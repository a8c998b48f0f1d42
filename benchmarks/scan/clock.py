"""Time and memory of calls: CPU seconds on one thread, wall seconds on two, peak memory in a process of its own."""

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from benchmarks.scan import cases

# A call this long is not disturbed by the one before it.
LONG_S = 0.5

Calls = Mapping[str, Callable[[], object]]


def cpu_seconds(calls: Calls, rounds: int) -> dict[str, float]:
    """Return the median CPU time of each call on one thread; the calls take turns, so that drift hits all alike."""
    return _medians(calls, rounds, time.process_time)


def wall_seconds_on_two_threads(calls: Calls, rounds: int) -> dict[str, float]:
    """Return the median wall time of each call on two threads."""
    torch.set_num_threads(2)
    try:
        return _medians(calls, rounds, time.perf_counter)
    finally:
        torch.set_num_threads(1)


def _medians(calls: Calls, rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [_timed(call, clock)] for name, call in calls.items()}
    for _ in range(rounds):
        for name, call in calls.items():
            if taken[name][-1] < LONG_S:
                call()  # pays for what the call before left behind: cold caches, memory given back
            taken[name].append(_timed(call, clock))
    return {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}


def _timed(call: Callable[[], object], clock: Callable[[], float]) -> float:
    gc.collect()
    start = clock()
    call()
    return clock() - start


def peak_bytes(contender: str, shape: cases.Shape) -> int:
    """Return what one forward and backward pass needs beside its inputs, measured in a fresh process (Linux)."""
    command = [sys.executable, "-m", "benchmarks.scan.clock", contender, *map(str, shape)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _peak_bytes_here(contender: str, shape: cases.Shape) -> int:
    torch.set_num_threads(1)
    scan = cases.contenders()[contender]
    cases.forward_backward(scan, cases.inputs(cases.Shape(1, 2)))()  # loads what the first call loads
    call = cases.forward_backward(scan, cases.inputs(shape))
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    call()
    return _status("VmHWM") - before


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    print(_peak_bytes_here(sys.argv[1], cases.Shape(*map(int, sys.argv[2:]))))
