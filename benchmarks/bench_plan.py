"""Predicted against measured time of the demo grid, and the share of worker time spent training and evaluating.

Run with ``python -m benchmarks.bench_plan [--models NAMES] [--datasets NAMES] [--jobs N]``; every cell is tried first,
then trained, in a temporary folder. Prints a line for each kind of cell; fails when the sum is off by more than 30
percent. Other work on the machine spoils it.
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import mean

from bench.datasets.cohort import demo_root, ensure_demo
from bench.plan.cost import likeness
from bench.plan.data import check_all
from bench.plan.grid import Request, plan
from bench.plan.request import make_request
from bench.results.record import Record
from bench.results.store import read_all
from bench.run.calibrate import Forecast, forecast
from bench.run.data import prepare_all
from bench.run.grid import Resources, execute

MOST_OFF = 0.3


def main() -> int:
    """Predict, run, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="all")
    parser.add_argument("--datasets", default="all")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    request = make_request(
        models_text=options.models,
        datasets_text=options.datasets,
        seeds_text=None,
        preset_name="demo",
        recipe_name=None,
        assignments=(),
        ablation=True,
    )
    for name in request.datasets:
        ensure_demo(name)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "r"
        found = predict(request, out, Resources(jobs=options.jobs))
        clock = time.perf_counter()
        execute(request, demo_root(), out, Resources(jobs=options.jobs))
        wall = time.perf_counter() - clock
        records, _ = read_all(out)
    off = compare(found, records)
    inside = sum(one.timing.train_s + one.timing.test_s for one in records)
    print(
        f"worker time in training and evaluation: {100 * inside / (wall * options.jobs):.0f} % of {wall:.0f} s"
    )
    return int(abs(off) > MOST_OFF)


def predict(request: Request, out: Path, resources: Resources) -> Forecast:
    """Return the forecast of the whole grid."""
    manifests, _ = check_all(request.datasets, demo_root(), skip_missing=False)
    prepared = prepare_all(
        manifests, demo_root(), jobs=resources.jobs, allow_skipped=False, on_record=lambda *_: None
    )
    cells = plan(request, prepared, out)
    return forecast(cells, demo_root(), out, resources, budget_s=10.0, say=print)


def compare(found: Forecast, records: list[Record]) -> float:
    """Print predicted and measured seconds of each kind of cell; return how far off the sum is."""
    measured: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records:
        measured[record.cell.model, record.cell.dataset].append(record.timing.total_s)
    predicted: dict[tuple[str, str], float] = {}
    for one in found.cells:
        cost = found.costs.get(likeness(one))
        if cost is not None:
            predicted[one.settings.model, one.settings.dataset] = cost.seconds
    both = sorted(predicted.keys() & measured.keys())
    print(f"{'model':<27}{'dataset':<11}predicted s  measured s     off")
    for name in both:
        print(line(name, predicted[name], mean(measured[name])))
    whole = sum(predicted[name] for name in both), sum(mean(measured[name]) for name in both)
    print(line(("all", ""), *whole))
    return whole[0] / whole[1] - 1


def line(name: tuple[str, str], predicted: float, measured: float) -> str:
    """Return a row of the comparison."""
    return f"{name[0]:<27}{name[1]:<11}{predicted:>11.2f}{measured:>12.2f}{100 * (predicted / measured - 1):>+7.0f} %"


if __name__ == "__main__":
    sys.exit(main())
