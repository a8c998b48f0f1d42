"""Peak memory of one training step, for every registered model, as a markdown table.

    python -m benchmarks.bench_memory [MODEL ...] [--dataset sleep-edf] [--batch 8 ...] [--threads 1]

Every model runs in a process of its own on the CPU, with its settings for the dataset; the peak is the largest resident
set of that process (Linux), imports included: the second column is the memory of the process before the model was
built. The time is that of the first step, and no measurement of speed. ``BENCH_SCAN=torch`` measures MedMamba without
the C kernel.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from bench.models import registry

LIMIT_GIB = 6.0
TIMEOUT_S = 1200


def main() -> int:
    """Print the table; return 1 when a model failed or needed more than the limit."""
    parser = argparse.ArgumentParser(description="Peak memory of one training step")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all registered models")
    parser.add_argument("--dataset", default="sleep-edf", help="whose shape windows have (default sleep-edf)")
    parser.add_argument("--batch", type=int, nargs="+", default=[8], help="windows in the step (default 8)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch (default 1)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(measure(asked.models[0], asked.dataset, asked.batch[0], asked.threads)))
        return 0
    names = asked.models or registry.names()
    return table([(name, batch) for name in names for batch in asked.batch], asked.dataset, asked.threads)


def table(steps: list[tuple[str, int]], dataset: str, threads: int) -> int:
    """Measure each model and batch in a fresh process and print a row for it as soon as it is known."""
    print(f"One training step, CPU, {threads} thread(s), windows of {dataset}, float32\n")
    print("| model | batch | parameters | before, GiB | peak, GiB | step, s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    failures = 0
    for name, batch in steps:
        command = [sys.executable, "-m", "benchmarks.bench_memory", name, f"--dataset={dataset}"]
        command += [f"--batch={batch}", f"--threads={threads}", "--child"]
        finished = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if finished.returncode:
            print(f"| {name} | {batch} | failed (exit {finished.returncode}) | | | |", flush=True)
            print(finished.stderr, file=sys.stderr)
            failures += 1
            continue
        row = json.loads(finished.stdout)
        over = row["peak_gib"] > LIMIT_GIB
        failures += over
        print(
            f"| {name} | {batch} | {row['parameters']:,} | {row['before_gib']:.2f} | {row['peak_gib']:.2f}"
            f"{' (over the limit)' if over else ''} | {row['step_s']:.1f} |",
            flush=True,
        )
    return int(failures > 0)


def measure(name: str, dataset: str, batch: int, threads: int) -> dict[str, float]:
    """Take one training step in this process and return its peak resident set."""
    import torch

    import bench.models
    from bench.measure.measurement import task_of
    from bench.settings.tables import hyperparameter_table

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    task = task_of(dataset)
    published = hyperparameter_table(registry.entry(name).settings)
    settings = dict(published.default) if published else {}
    if published and dataset in published.dataset:
        settings.update(published.dataset[dataset].values())
    settings.update(registry.entry(name).overrides)
    before = peak_gib()
    model = bench.models.build(
        name, task.n_channels, n_times=task.n_times, n_classes=task.n_classes, **settings
    )
    optimizer = torch.optim.Adam(model.train().parameters(), lr=1e-4)
    windows = torch.randn(batch, task.n_times, task.n_channels)
    labels = torch.randint(task.n_classes, (batch,))
    start = time.perf_counter()
    torch.nn.functional.cross_entropy(model(windows), labels).backward()
    optimizer.step()
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "before_gib": before,
        "peak_gib": peak_gib(),
        "step_s": time.perf_counter() - start,
    }


def peak_gib() -> float:
    """Return the largest resident set so far. Not ``getrusage``: that one remembers the parent's."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None, "no VmHWM in /proc/self/status"
    return int(found[1]) / 2**20


if __name__ == "__main__":
    sys.exit(main())
