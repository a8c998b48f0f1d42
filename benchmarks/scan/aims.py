"""The aims of the scan backends and what was measured, as one table."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.scan import cases, clock
from benchmarks.scan.cases import Shape

TIMED, REMEMBERED = Shape(32, 51), Shape(32, 300)
SHORT, LONG = Shape(4, 256), Shape(4, 3000)
FAST = ("torch", "native")


@dataclass(frozen=True)
class Aim:
    """One row: ratios marked ``least`` must be reached, others must not be exceeded."""

    what: str
    torch: float
    native: float
    least: bool = True

    def row(self, measured: dict[str, float]) -> str:
        """Return the table's row."""
        cells = []
        for name in FAST:
            aim = getattr(self, name)
            met = (operator.ge if self.least else operator.le)(measured[name], aim)
            cells += [
                f"{'>=' if self.least else '<='} {aim:g}x",
                f"{measured[name]:.1f}x{'' if met else ' (missed)'}",
            ]
        return f"| {self.what} | {' | '.join(cells)} |"


def table(rounds: int) -> Iterator[str]:
    """Measure and yield the table's lines."""
    yield "| | aim, torch | measured | aim, native | measured |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    scans, x = cases.contenders(), cases.inputs(TIMED)
    taken = clock.cpu_seconds({name: cases.forward(scan, x) for name, scan in scans.items()}, rounds)
    yield Aim("scan forward vs plain loop, b 32, L 51", 20, 100).row(_faster(taken, "reference"))
    taken = clock.cpu_seconds({name: cases.forward_backward(scan, x) for name, scan in scans.items()}, rounds)
    yield Aim("scan forward + backward vs plain loop, b 32, L 51", 50, 300).row(_faster(taken, "reference"))
    yield Aim("scan forward + backward vs mambapy, b 32, L 51", 6, 30).row(_faster(taken, "mambapy"))
    peak = {name: float(clock.peak_bytes(name, REMEMBERED)) for name in (*FAST, "mambapy")}
    less = Aim("peak memory less than mambapy's, b 32, L 300, forward + backward", 10, 20)
    yield less.row(_faster(peak, "mambapy"))
    models = ("reference", *FAST)
    taken = clock.cpu_seconds({name: cases.inference(name, 256) for name in models}, rounds)
    yield Aim("whole MedMamba, inference, batch 256, vs plain loop", 7, 15).row(_faster(taken, "reference"))
    taken = clock.cpu_seconds({name: cases.training(name, 32) for name in models}, rounds)
    yield Aim("whole MedMamba, training, batch 32, vs plain loop", 20, 40).row(_faster(taken, "reference"))
    growth = Aim("growth of time from L 256 to 3000, forward + backward, b 4", 13, 13, least=False)
    yield growth.row({name: _growth(scans[name], rounds) for name in FAST})


def _faster(taken: dict[str, float], than: str) -> dict[str, float]:
    return {name: taken[than] / taken[name] for name in FAST}


def _growth(scan: cases.Scan, rounds: int) -> float:
    calls = {str(shape.n_times): cases.forward_backward(scan, cases.inputs(shape)) for shape in (SHORT, LONG)}
    taken = clock.cpu_seconds(calls, 3 * rounds)
    return taken[str(LONG.n_times)] / taken[str(SHORT.n_times)]
