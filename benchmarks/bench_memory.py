"""Peak memory of one training step at Sleep-EDF's shape, batch 8, for every registered model, as a markdown table.

    python benchmarks/bench_memory.py [MODEL ...] [--batch 8] [--threads 1]

Every model runs in a process of its own on the CPU, with its settings for Sleep-EDF; the peak is the largest resident
set of that process (Linux), imports included: the second column is the memory of the process before the model was
built. The time is that of the first step, and no measurement of speed.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from bench.models import registry

DATASET = "sleep-edf"
N_CHANNELS, N_TIMES, N_CLASSES = 1, 3000, 5
LIMIT_GIB = 6.0
TIMEOUT_S = 1200


def main() -> int:
    """Print the table; return 1 when a model failed or needed more than the limit."""
    parser = argparse.ArgumentParser(description="Peak memory of one training step at Sleep-EDF shape")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all registered models")
    parser.add_argument("--batch", type=int, default=8, help="windows in the step (default 8)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch (default 1)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(measure(asked.models[0], asked.batch, asked.threads)))
        return 0
    return table(asked.models or registry.names(), asked.batch, asked.threads)


def table(names: list[str], batch: int, threads: int) -> int:
    """Measure each model in a fresh process and print a row for it as soon as it is known."""
    print(f"One training step, CPU, {threads} thread(s), batch {batch}, {N_TIMES} x {N_CHANNELS}, float32\n")
    print("| model | parameters | before, GiB | peak, GiB | step, s |")
    print("| --- | ---: | ---: | ---: | ---: |")
    failures = 0
    for name in names:
        command = [sys.executable, __file__, name, f"--batch={batch}", f"--threads={threads}", "--child"]
        finished = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if finished.returncode:
            print(f"| {name} | failed (exit {finished.returncode}) | | | |", flush=True)
            print(finished.stderr, file=sys.stderr)
            failures += 1
            continue
        row = json.loads(finished.stdout)
        over = row["peak_gib"] > LIMIT_GIB
        failures += over
        print(
            f"| {name} | {row['parameters']:,} | {row['before_gib']:.2f} | {row['peak_gib']:.2f}"
            f"{' (over the limit)' if over else ''} | {row['step_s']:.1f} |",
            flush=True,
        )
    return int(failures > 0)


def measure(name: str, batch: int, threads: int) -> dict[str, float]:
    """Take one training step in this process and return its peak resident set."""
    import torch

    import bench.models
    from bench.settings.tables import hyperparameter_table

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    published = hyperparameter_table(registry.entry(name).settings)
    settings = dict(published.default) if published else {}
    if published and DATASET in published.dataset:
        settings.update(published.dataset[DATASET].values())
    settings.update(registry.entry(name).overrides)
    before = peak_gib()
    model = bench.models.build(name, N_CHANNELS, n_times=N_TIMES, n_classes=N_CLASSES, **settings).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    windows, labels = torch.randn(batch, N_TIMES, N_CHANNELS), torch.randint(N_CLASSES, (batch,))
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
