"""The demo grid under random kills: it finishes, and its records equal those of an undisturbed run.

Run with ``python -m benchmarks.soak [--models NAMES] [--datasets NAMES] [--seeds S] [--every SECONDS] [--calm OUT]``;
OUT is a finished undisturbed run of the same cells on the same data, which is not repeated then. Every few seconds a
random process of the run dies by SIGKILL: a worker, the fork server, or the run itself, which is then started again.
Fails when a cell's scores or files differ, when a record is missing or not ok, when anything half-written is left, or a
process. Efficiency is not measured: a measurement starts again after each kill.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from bench.plan.planned import read_planned
from bench.results.store import read_all

# Deaths of one attempt do not count against a cell when the run itself is started again.
GIVE_UP_S = 3600.0
FAREWELL_S = 60.0
"""How long the processes of a run may take to notice that it is over: on a busy machine imports alone take so long."""


def main() -> int:
    """Run twice, once undisturbed, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="all")
    parser.add_argument("--datasets", default="all")
    parser.add_argument("--seeds", default="41,42", help="of the cells")
    parser.add_argument("--seed", type=int, default=1, help="of the kills")
    parser.add_argument("--every", type=float, default=8.0, help="mean seconds between two kills")
    parser.add_argument(
        "--calm", type=Path, help="results of a finished run of the same command, undisturbed"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        calm, soaked = options.calm or Path(folder) / "calm", Path(folder) / "soaked"
        code = 0 if options.calm else start(options, calm).wait()
        if code != 0:
            raise SystemExit(f"the undisturbed run ended with exit code {code}")
        kills = soak(options, soaked, random.Random(options.seed))
        problems = [*incomplete(calm), *differences(calm, soaked), *survivors(Path(folder))]
        n_cells = len(read_planned(calm))
    for line in problems:
        print(line)
    killed = ", ".join(f"{n} x {name}" for name, n in kills.items()) or "nobody"
    print(f"{n_cells} cells; killed: {killed}; {len(problems)} problems")
    return int(bool(problems))


def start(options: argparse.Namespace, out: Path) -> subprocess.Popen[bytes]:
    """Start a run of the grid."""
    arguments = ["run", "--preset", "demo", "--models", options.models, "--datasets", options.datasets]
    arguments += [
        "--seeds",
        options.seeds,
        "--jobs",
        "2",
        "--out",
        str(out),
        "--retry-failed",
        "--no-efficiency",
    ]
    # This variable identifies the processes of this run, whatever their parent.
    environment = {**os.environ, "BENCH_SOAK": str(out.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "bench", *arguments], stdout=subprocess.DEVNULL, env=environment
    )


def soak(options: argparse.Namespace, out: Path, draw: random.Random) -> Counter[str]:
    """Run the grid to its end, killing now and then, and return what was killed how often."""
    kills: Counter[str] = Counter()
    deadline = time.monotonic() + GIVE_UP_S
    run = start(options, out)
    while time.monotonic() < deadline:
        try:
            code = run.wait(draw.uniform(0.5, 2 * options.every - 0.5))
        except subprocess.TimeoutExpired:
            if not incomplete(out):
                # Only the report is left, which takes longer than a run is left alone.
                code = run.wait()
            else:
                kills[kill_one(run.pid, draw)] += 1
                continue
        if code == 0:
            return kills
        run = start(options, out)
    run.kill()
    raise SystemExit(f"not finished after {GIVE_UP_S:.0f} s; killed so far: {kills}")


def kill_one(pid: int, draw: random.Random) -> str:
    """Kill the run itself (one time in six) or a process below it, a worker rather than others, and say which."""
    family = psutil.Process(pid).children(recursive=True) if psutil.pid_exists(pid) else []
    if not family or draw.random() < 1 / 6:
        os.kill(pid, signal.SIGKILL)
        return "run"
    try:
        workers = [process for process in family if process.ppid() != pid]
        # Workers live shortly: they would rarely be met by chance.
        victim = draw.choice(workers if workers and draw.random() < 2 / 3 else family)
        victim.kill()
    except psutil.NoSuchProcess:
        return "nobody"
    return "worker" if victim in workers else "fork server or tracker"


def incomplete(calm: Path) -> list[str]:
    """Return which cells that were asked for have no scores."""
    records, damaged = read_all(calm)
    done = {record.key for record in records if record.is_done}
    planned = read_planned(calm)
    lacking = [f"{cell.cell}: no scores" for cell in planned if cell.key not in done]
    return [*map(str, damaged), *lacking, *([] if planned else ["no cell was planned"])]


def differences(calm: Path, soaked: Path) -> list[str]:
    """Return what is not as in the undisturbed run."""
    expected, found = results(calm), results(soaked)
    problems = [
        f"{name}: {found.get(name)} instead of {result}"
        for name, result in expected.items()
        if found.get(name) != result
    ]
    problems += [f"{name}: not in the undisturbed run" for name in found.keys() - expected.keys()]
    problems += [f"left over: {path}" for path in soaked.rglob("*") if path.suffix in (".tmp", ".pt")]
    return problems


def survivors(folder: Path) -> list[str]:
    """Return the processes of either run that are still there a while after its end."""
    deadline = time.monotonic() + FAREWELL_S
    while (left := [process for process in psutil.process_iter() if _belongs(process, folder)]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.2)
    return [f"left over: {process}" for process in left]


def _belongs(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.environ().get("BENCH_SOAK") == str(folder)
    except psutil.Error:
        return False


def results(out: Path) -> dict[str, Any]:
    """Return outcome, scores and hashes of every cell."""
    records, damaged = read_all(out)
    if damaged:
        raise SystemExit(f"damaged records: {damaged}")
    return {
        f"{record.cell.model} / {record.cell.dataset} / seed {record.cell.seed}": (
            record.outcome,
            record.metrics,
            record.files,
        )
        for record in records
    }


if __name__ == "__main__":
    sys.exit(main())
