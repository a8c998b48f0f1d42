"""The demo grid under random kills: it finishes, and its records equal those of an undisturbed run.

Run with ``python -m benchmarks.soak [--models NAMES] [--datasets NAMES] [--seeds S] [--every SECONDS]``. Every few
seconds a random process of the run dies by SIGKILL: a worker, the fork server, or the run itself, which is then started
again. Fails when a cell's scores or files differ, when a record is missing, or when anything half-written is left.
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

from bench.results.store import read_all

# Deaths of one attempt do not count against a cell when the run itself is started again.
GIVE_UP_S = 3600.0


def main() -> int:
    """Run twice, once undisturbed, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="medmamba,transformer,informer")
    parser.add_argument("--datasets", default="uci-har,apava")
    parser.add_argument("--seeds", default="41,42", help="of the cells")
    parser.add_argument("--seed", type=int, default=1, help="of the kills")
    parser.add_argument("--every", type=float, default=4.0, help="mean seconds between two kills")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        calm, soaked = Path(folder) / "calm", Path(folder) / "soaked"
        start(options, calm).wait()
        kills = soak(options, soaked, random.Random(options.seed))
        problems = differences(calm, soaked)
    for line in problems:
        print(line)
    print(f"killed: {', '.join(f'{n} x {name}' for name, n in kills.items())}; {len(problems)} problems")
    return int(bool(problems))


def start(options: argparse.Namespace, out: Path) -> subprocess.Popen[bytes]:
    """Start a run of the grid."""
    arguments = ["run", "--preset", "demo", "--models", options.models, "--datasets", options.datasets]
    arguments += ["--seeds", options.seeds, "--jobs", "2", "--out", str(out), "--retry-failed"]
    return subprocess.Popen([sys.executable, "-m", "bench", *arguments], stdout=subprocess.DEVNULL)


def soak(options: argparse.Namespace, out: Path, draw: random.Random) -> Counter[str]:
    """Run the grid to its end, killing now and then, and return what was killed how often."""
    kills: Counter[str] = Counter()
    deadline = time.monotonic() + GIVE_UP_S
    run = start(options, out)
    while time.monotonic() < deadline:
        try:
            code = run.wait(draw.uniform(0.5, 2 * options.every - 0.5))
        except subprocess.TimeoutExpired:
            kills[kill_one(run.pid, draw)] += 1
            continue
        if code == 0:
            return kills
        run = start(options, out)
    run.kill()
    raise SystemExit(f"not finished after {GIVE_UP_S:.0f} s; killed so far: {kills}")


def kill_one(pid: int, draw: random.Random) -> str:
    """Kill the run itself (one time in six) or a process below it, and say which."""
    family = psutil.Process(pid).children(recursive=True) if psutil.pid_exists(pid) else []
    if not family or draw.random() < 1 / 6:
        os.kill(pid, signal.SIGKILL)
        return "run"
    victim = draw.choice(family)
    try:
        kind = "worker" if victim.ppid() != pid else "fork server or tracker"
        victim.kill()
    except psutil.NoSuchProcess:
        return "nobody"
    return kind


def differences(calm: Path, soaked: Path) -> list[str]:
    """Return what is not as in the undisturbed run."""
    expected, found = results(calm), results(soaked)
    problems = [
        f"{name}: {found.get(name)} instead of {one}"
        for name, one in expected.items()
        if found.get(name) != one
    ]
    problems += [f"{name}: not in the undisturbed run" for name in found.keys() - expected.keys()]
    problems += [f"left over: {path}" for path in soaked.rglob("*") if path.suffix in (".tmp", ".pt")]
    return problems


def results(out: Path) -> dict[str, Any]:
    """Return outcome, scores and hashes of every cell."""
    records, damaged = read_all(out)
    if damaged:
        raise SystemExit(f"damaged records: {damaged}")
    return {
        f"{one.cell.model} / {one.cell.dataset} / seed {one.cell.seed}": (one.outcome, one.metrics, one.files)
        for one in records
    }


if __name__ == "__main__":
    sys.exit(main())
