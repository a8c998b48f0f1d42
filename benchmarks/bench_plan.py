"""The demo grid from an empty cache to its report: its time, the parts of it, and how well it was predicted.

Run with ``python -m benchmarks.bench_plan [--models NAMES] [--datasets NAMES] [--seeds S] [--jobs N]``: the command of
``make run`` on an empty cache, in a temporary folder, then a forecast of the same cells by trials alone. With
``--records OUT`` nothing is trained: the forecast is compared with the finished run in that folder. Prints a line for
each kind of cell and the measured values beside their aims; fails when an aim is missed. Run nothing else meanwhile.

Of cheap models at the paper's sizes, where only the forecast of each kind has an aim:

    python -m benchmarks.bench_plan --preset paper --set epochs=1 --data DIR --models itransformer,fcn --seeds 41
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import mean, median

from bench.datasets.simulate.cohort import demo_root, ensure_demo
from bench.plan.cost import same_but_seed
from bench.plan.data import check_all
from bench.plan.grid import Request, plan
from bench.plan.request import make_request
from bench.processes import fork_server
from bench.results.record import Record
from bench.results.store import read_all
from bench.run.calibrate import Forecast, forecast
from bench.run.resources import Resources
from bench.run.run_grid import prepare_all

MOST_OFF, LEAST_SHARE, LONGEST_START_S, LONGEST_RUN_S = 0.3, 0.7, 0.5, 720.0
MOST_OFF_A_KIND = 0.25  # at the paper's sizes

Kind = tuple[str, str]  # model and dataset
ALL = ("all", "")


def main() -> int:
    """Run or read, predict, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="all")
    parser.add_argument("--datasets", default="all")
    parser.add_argument("--seeds", help="[default: the preset's]")
    parser.add_argument("--preset", default="demo", help="[default: demo]")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="assignments")
    parser.add_argument("--data", type=Path, metavar="DIR", help="[default: the demo's simulated cohorts]")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--records", type=Path, metavar="OUT", help="results folder of a finished run with --jobs"
    )
    options = parser.parse_args()
    request = make_request(
        models_text=options.models,
        datasets_text=options.datasets,
        seeds_text=options.seeds,
        preset_name=options.preset,
        recipe_name=None,
        assignments=options.assignments,
        ablation=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        whole_s = None
        if options.records is None:
            os.environ["BENCH_CACHE"] = f"{folder}/cache"
            options.records = Path(folder) / "r"
            whole_s = run(options)
        data = options.data or demo_root()
        found = predict(request, data, Path(folder) / "none", Resources(jobs=options.jobs))
        records = records_of(request, data, options.records)
    off = compare(found, records)
    if options.preset == "demo":
        judged = verdicts(found, records, options.jobs, off[ALL], whole_s)
    else:
        judged = verdict_on_kinds(off)
    missed = 0
    for what, value, aim, unit, good in judged:
        missed += not good
        print(f"{what:<48}{value:>8.2f} {unit:<4} aim {aim:>6} {'met' if good else 'MISSED'}")
    return int(missed > 0)


def run(options: argparse.Namespace) -> float:
    """Run the grid as a user does, efficiency and report included, and return the seconds."""
    chosen = {
        name: getattr(options, name) for name in ("preset", "models", "datasets", "seeds", "data", "jobs")
    }
    arguments = ["run", "--out", str(options.records)]
    for name, value in chosen.items():
        arguments += [f"--{name}", str(value)] if value is not None else []
    for assignment in options.assignments:
        arguments += ["--set", assignment]
    clock = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "bench", *arguments], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise SystemExit(f"the run ended with exit code {done.returncode}")
    return time.perf_counter() - clock


def predict(request: Request, data: Path, out: Path, resources: Resources) -> Forecast:
    """Return the forecast of the whole grid, by trials where ``out`` has no records."""
    if data == demo_root():
        for name in request.datasets:
            ensure_demo(name)
    fork_server()
    cells = plan(request, prepare(request, data, resources.jobs), out)
    return forecast(cells, data, out, resources, budget_s=20.0, say=lambda line: print(line, flush=True))


def prepare(request: Request, data: Path, jobs: int) -> dict:
    """Return the manifests of the request's datasets."""
    manifests, _ = check_all(request.datasets, data, skip_missing=False)
    return prepare_all(manifests, data, jobs=jobs, allow_skipped=False, on_record=lambda *_: None)


def records_of(request: Request, data: Path, out: Path) -> list[Record]:
    """Return the records of a request's cells, all of which must be done."""
    cells = plan(request, prepare(request, data, 1), out)
    keys = {planned.cell.key for planned in cells if planned.cell is not None}
    records = [record for record in read_all(out)[0] if record.key in keys and record.is_done]
    if len(records) < len(keys):
        raise SystemExit(
            f"{out}: {len(records)} of the {len(keys)} cells of this grid are done; run it first"
        )
    return records


def verdicts(
    found: Forecast, records: list[Record], jobs: int, off: float, whole_s: float | None
) -> Iterator[tuple[str, float, str, str, bool]]:
    """Yield what is measured, its value, its aim, the unit, and whether the aim is met."""
    starts = [datetime.fromisoformat(record.timing.started).timestamp() for record in records]
    wall = max(s + r.timing.total_s for s, r in zip(starts, records, strict=True)) - min(starts)
    share = sum(record.timing.train_s + record.timing.test_s for record in records) / (wall * jobs)
    start_s = median(trial.start_s for trial in found.trials.values())
    yield "predicted against measured time", 100 * off, "30 %", "%", abs(off) <= MOST_OFF
    yield "worker time in training and evaluation", 100 * share, "70 %", "%", share >= LEAST_SHARE
    yield "start of a cell, median", start_s, "0.5 s", "s", start_s <= LONGEST_START_S
    yield "first start to last end of the cells", wall, "720 s", "s", wall <= LONGEST_RUN_S
    if whole_s is not None:
        yield "the whole command, from an empty cache", whole_s, "720 s", "s", whole_s <= LONGEST_RUN_S


def verdict_on_kinds(off: dict[Kind, float]) -> Iterator[tuple[str, float, str, str, bool]]:
    """Yield the kind of cell whose forecast is furthest off, as `verdicts` does."""
    model, dataset = max(off.keys() - {ALL}, key=lambda kind: abs(off[kind]))
    worst = off[model, dataset]
    what = f"furthest off: {model} on {dataset}"
    yield what, 100 * worst, f"{MOST_OFF_A_KIND:.0%}", "%", abs(worst) <= MOST_OFF_A_KIND


def compare(found: Forecast, records: list[Record]) -> dict[Kind, float]:
    """Print predicted and measured seconds of each kind of cell; return how far off each is, and `ALL` together."""
    measured: dict[Kind, list[float]] = defaultdict(list)
    for record in records:
        measured[record.cell.model, record.cell.dataset].append(record.whole_time_s)
    predicted: dict[Kind, float] = {}
    for planned in found.cells:
        cost = found.costs.get(same_but_seed(planned))
        if cost is not None:
            predicted[planned.settings.model, planned.settings.dataset] = cost.seconds
    both = sorted(predicted.keys() & measured.keys())
    seconds = {kind: (predicted[kind], mean(measured[kind])) for kind in both}
    seconds[ALL] = sum(predicted[kind] for kind in both), sum(mean(measured[kind]) for kind in both)
    print(f"{'model':<27}{'dataset':<11}predicted s  measured s     off")
    off = {kind: foretold / taken - 1 for kind, (foretold, taken) in seconds.items()}
    for (model, dataset), (foretold, taken) in seconds.items():
        print(f"{model:<27}{dataset:<11}{foretold:>11.2f}{taken:>12.2f}{100 * off[model, dataset]:>+7.0f} %")
    return off


if __name__ == "__main__":
    sys.exit(main())
