"""All that one GPU can tell us, by one command, for whoever has one: ``make gpu-check``.

    python -m benchmarks.gpu_check [--out gpu-check]

Tests the scan's kernels on the card, compares every scan that runs there, times MedMamba and the eleven at ADFTD's
shape with the paper's batch, trains three small cells on simulated data, prints a table, and writes one archive to send
to us. Every step has a time limit, eight minutes together; a step that fails does not keep the others from running.
Untested on GPU.
"""

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from bench.files import atomic_file

ROOT = Path(__file__).parents[1]
BENCH = (sys.executable, "-m", "bench")
RECORD, ARCHIVE = "gpu-check.json", "gpu-check.zip"
LAST_LINES = 40


class Step(NamedTuple):
    """A command, what it is for, and the seconds that it may take."""

    name: str
    command: tuple[str, ...]
    limit_s: int


def folder(out: Path) -> Path:
    """Return where in a results folder this check writes: a part of it that `bench pack` takes along."""
    return out / "analyses" / "gpu-check"


def steps(out: Path, device: str) -> tuple[Step, ...]:
    """Return the commands in order; the archive comes last, so that it has what the others wrote."""
    where = ("--device", device, "--out", str(out))
    tests = ("-m", "pytest", "--quiet", "--noconftest", "-p", "no:cacheprovider", "tests/scan/on_device.py")
    scans = ("-m", "benchmarks.scan.on_gpu", "--device", device, "--write", str(folder(out) / "scans.json"))
    widths = ("--datasets", "adftd", "--batch", "1,256", "--train-batch", "128")
    small = ("--preset", "demo", "--datasets", "adftd", "--seeds", "41", "--no-efficiency", "--no-ablation")
    return (
        Step("doctor", (*BENCH, "doctor"), 20),
        Step("scan tests", (sys.executable, *tests), 150),
        Step("scans compared", (sys.executable, *scans), 60),
        Step("efficiency", (*BENCH, "efficiency", *widths, "--time-limit", "6", *where), 150),
        Step("cells", (*BENCH, "run", *small, "--models", "medmamba,transformer,medformer", *where), 80),
        Step("archive", (*BENCH, "pack", "--out", str(out), "--archive", ARCHIVE), 20),
    )


def run_step(step: Step) -> dict[str, Any]:
    """Run a command and show what it says; return how it ended, its seconds and its last lines."""
    print(f"\n## {step.name}\n", flush=True)
    started = time.perf_counter()
    process = subprocess.Popen(
        step.command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=step.limit_s)
        outcome = "ok" if process.returncode == 0 else f"failed with status {process.returncode}"
    except subprocess.TimeoutExpired:
        end_with_children(process)
        said, _ = process.communicate()
        outcome = f"stopped after {step.limit_s} s"
    except BaseException:
        end_with_children(process)
        raise
    print(said, flush=True)
    seconds = round(time.perf_counter() - started, 1)
    return {
        "step": step.name,
        "outcome": outcome,
        "seconds": seconds,
        "said": said.splitlines()[-LAST_LINES:],
    }


def end_with_children(process: subprocess.Popen[str]) -> None:
    """Kill a step and what it has started, which would otherwise go on, and hold the card."""
    os.killpg(process.pid, signal.SIGKILL)


def check(out: Path, device: str) -> int:
    """Run all steps, keep what came of them after each, and print the table; return 1 if one did not end well."""
    folder(out).mkdir(parents=True, exist_ok=True)
    done: list[dict[str, Any]] = []
    for step in steps(out, device):
        write(out, done)
        done.append(run_step(step))
    write(out, done)
    print("\n| step | outcome | seconds |\n| --- | --- | ---: |")
    for row in done:
        print(f"| {row['step']} | {row['outcome']} | {row['seconds']} |")
    good = all(row["outcome"] == "ok" for row in done)
    sent = ARCHIVE if done[-1]["outcome"] == "ok" else folder(out) / RECORD
    print(f"\nPlease attach {sent} to an issue of this project, with the card's name.")
    return 0 if good else 1


def write(out: Path, done: list[dict[str, Any]]) -> None:
    """Write what is known of the machine and of the steps so far."""
    record = {
        "schema": 1,
        "date": datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds"),
        "steps": done,
    }
    with atomic_file(folder(out) / RECORD) as temporary:
        temporary.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Return 2 when there is no GPU, or where the results would go is taken."""
    import torch

    parser = argparse.ArgumentParser(
        description="Check and measure the scans and models on this machine's GPU."
    )
    parser.add_argument(
        "--out", type=Path, default=Path("gpu-check"), help="a new folder (default gpu-check)"
    )
    asked = parser.parse_args()
    if not torch.cuda.is_available():
        print(
            f"gpu-check: torch {torch.__version__} finds no GPU; it takes a card, its driver, and a build of torch "
            "for CUDA or ROCm",
            file=sys.stderr,
        )
        return 2
    if asked.out.exists():
        print(f"gpu-check: {asked.out} is there already; move it away or give another --out", file=sys.stderr)
        return 2
    return check(asked.out.resolve(), "cuda")


if __name__ == "__main__":
    sys.exit(main())
