"""Every contender at every shape: time, memory and error, as one table."""

import os
from collections.abc import Iterator

import torch

from benchmarks.scan import cases, clock
from benchmarks.scan.cases import Shape

# Load average beyond our own.
BUSY_LOAD = 0.5

SHAPES = [Shape(batch, n_times) for batch in (32, 128, 256) for n_times in (10, 25, 51, 120, 300, 600)]


def table(rounds: int, shapes: list[Shape] = SHAPES) -> Iterator[str]:
    """Measure and yield the table's lines."""
    yield (
        "| b | L | backend | forward, ms | forward + backward, ms | the same on 2 threads, wall ms "
        "| peak, MB | error of y | largest error of a gradient |"
    )
    yield "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for shape in shapes:
        yield from _rows(shape, rounds)


def _rows(shape: Shape, rounds: int) -> Iterator[str]:
    x = cases.inputs(shape)
    scans = {name: scan for name, scan in cases.contenders().items() if cases.fits(name, shape)}
    passes = {name: cases.forward_backward(scan, x) for name, scan in scans.items()}
    forward = clock.cpu_seconds({name: cases.forward(scan, x) for name, scan in scans.items()}, rounds)
    both = clock.cpu_seconds(passes, rounds)
    wall = {} if _is_busy() else clock.wall_seconds_on_two_threads(passes, rounds)
    for name, scan in scans.items():
        errors = _errors(scan, shape.n_times)
        yield (
            f"| {shape.batch} | {shape.n_times} | {name} | {1e3 * forward[name]:.2f} | {1e3 * both[name]:.2f} "
            f"| {f'{1e3 * wall[name]:.2f}' if wall else 'busy'} | {clock.peak_bytes(name, shape) / 1e6:.0f} "
            f"| {errors[0]:.0e} | {max(errors[1:]):.0e} |"
        )


def _is_busy() -> bool:
    """Tell whether other work leaves no two cores free: threads that wait for each other then measure that work."""
    return os.getloadavg()[0] > max((os.cpu_count() or 1) - 1, 1) + BUSY_LOAD


def _errors(scan: cases.Scan, n_times: int) -> list[float]:
    """Return the largest differences from float64 on two samples, relative to the peak: y, then the gradients.

    The float64 numbers are the torch backend's, which the tests hold to 1e-10 of the plain loop's.
    """
    exact = cases.forward_backward(
        cases.contenders()["torch"], cases.inputs(Shape(2, n_times), torch.float64)
    )()
    found = cases.forward_backward(scan, cases.inputs(Shape(2, n_times)))()
    return [
        ((value.double() - other).abs().max() / other.abs().max()).item()
        for value, other in zip(found, exact, strict=True)
    ]
