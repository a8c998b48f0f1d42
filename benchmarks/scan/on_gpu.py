"""Every scan that a GPU can run: milliseconds, memory and errors at the shapes of MedMamba's layers, as markdown.

    python -m benchmarks.scan.on_gpu [--device cuda] [--rounds 20] [--write FILE]

Rounds take turns, so that drift hits all alike; times are medians of the device's own clock. Errors are the largest
differences from the plain loop in float64, relative to the peak, on two samples. Untested on GPU.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bench.files import atomic_file
from bench.measure.clock import clock_of
from bench.scan import ScanInputs, available_backends, obstacles, reference
from benchmarks.scan.cases import Scan, Shape, contenders, forward, forward_backward, inputs

# The three scales of MedMamba on ADFTD at the batches of inference and training, and a night of Sleep-EDF.
SHAPES = [Shape(batch, n_times) for batch in (256, 128, 1) for n_times in (51, 25, 10)] + [Shape(32, 600)]


def compare(device: str, shapes: Iterable[Shape], rounds: int) -> list[dict[str, Any]]:
    """Return a row for each shape and scan; the plain loop is the judge and does not run in the race."""
    scans = {name: scan for name, scan in contenders().items() if name in available_backends(device)}
    del scans["reference"]
    return [row for shape in shapes for row in _race(device, shape, scans, rounds)]


def _race(device: str, shape: Shape, scans: dict[str, Scan], rounds: int) -> list[dict[str, Any]]:
    clock, there = clock_of(device), _on(device, inputs(shape))
    infer = {name: forward(scan, there) for name, scan in scans.items()}
    train = {name: forward_backward(scan, there) for name, scan in scans.items()}
    for call in (*infer.values(), *train.values()):
        call()  # compiles
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in scans}
    for _ in range(rounds):
        for name, pair in taken.items():
            pair.append((clock.time(_silent(infer[name])), clock.time(_silent(train[name]))))
    return [
        {
            "batch": shape.batch,
            "n_times": shape.n_times,
            "scan": name,
            "forward_ms": 1000 * statistics.median(pair[0] for pair in taken[name]),
            "training_ms": 1000 * statistics.median(pair[1] for pair in taken[name]),
            "peak_mb": _peak_mb(device, train[name]),
            **_errors(device, shape, scan),
        }
        for name, scan in scans.items()
    ]


def _silent(call: Any) -> Any:
    def work() -> None:
        call()

    return work


def _peak_mb(device: str, call: Any) -> float | None:
    if device != "cuda":
        return None
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    return (torch.cuda.max_memory_allocated() - before) / 1e6


def _errors(device: str, shape: Shape, scan: Scan) -> dict[str, float]:
    few = inputs(Shape(2, shape.n_times))
    exact = forward_backward(reference.scan, ScanInputs(*(tensor.double() for tensor in few)))()
    found = forward_backward(scan, _on(device, few))()
    y, *gradients = (_off(array, wanted) for array, wanted in zip(found, exact, strict=True))
    return {"error_of_y": y, "error_of_gradients": max(gradients)}


def _off(array: Tensor, wanted: Tensor) -> float:
    return ((array.cpu().double() - wanted).abs().max() / wanted.abs().max()).item()


def _on(device: str, x: ScanInputs) -> ScanInputs:
    return ScanInputs(*(tensor.to(device) for tensor in x))


def table(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return the rows as markdown."""
    lines = [
        "| batch | steps | scan | forward, ms | forward + backward, ms | peak, MB | error of y | of a gradient |",
        "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        peak = "" if row["peak_mb"] is None else f"{row['peak_mb']:.0f}"
        lines.append(
            f"| {row['batch']} | {row['n_times']} | {row['scan']} | {row['forward_ms']:.3f} | "
            f"{row['training_ms']:.3f} | {peak} | {row['error_of_y']:.0e} | {row['error_of_gradients']:.0e} |"
        )
    return lines


def main() -> int:
    """Print the table, and what kept scans from it."""
    parser = argparse.ArgumentParser(description="Compare the scans on a GPU.")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--rounds", type=int, default=20, help="turns of each call (default 20)")
    parser.add_argument("--write", type=Path, help="a JSON file for the numbers")
    asked = parser.parse_args()
    absent, rows = obstacles(asked.device), compare(asked.device, SHAPES, asked.rounds)
    print(*table(rows), *(f"- no {name}: {why}" for name, why in absent.items()), sep="\n")
    if asked.write:
        with atomic_file(asked.write) as temporary:
            temporary.write_text(
                json.dumps({"absent": absent, "rows": rows}, indent=1) + "\n", encoding="utf-8"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
