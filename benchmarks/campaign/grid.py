"""The small grid that accidents happen to: started, watched while it runs, compared when it has ended."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.errors import BenchError
from benchmarks.soak import FAREWELL_S, differences, incomplete, survivors

LONGEST_S = 900.0
"""A round that has not ended by then hangs."""
MOST_STARTS = 80
N_CELLS = 4
GRID = (
    *("--preset", "demo", "--models", "transformer,medmamba", "--datasets", "uci-har", "--seeds", "41,42"),
    *("--jobs", "2", "--device", "cpu", "--retry-failed", "--no-efficiency"),
    # A run with a shard has no report at its end.
    *("--shard", "1/1"),
)

Strike = Callable[[subprocess.Popen[bytes]], str | None]


@dataclass
class Round:
    """One grid from its start to its end, and what has happened to it meanwhile.

    Parameters
    ----------
    folder
        Of this round alone; results, messages and whatever else a fault needs are in it.
    calm
        Results of the same grid, undisturbed.
    cache
        The cache that the grid uses.
    draw
        Of the round's accidents.
    damaged
        Folders of finished cells that were damaged on purpose: these cells are to be done again.
    """

    folder: Path
    calm: Path
    cache: Path
    draw: random.Random
    faults: Counter[str] = field(default_factory=Counter)
    exits: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    damaged: set[Path] = field(default_factory=set)
    n_trained: int = 0
    undo: ExitStack = field(default_factory=ExitStack)
    _seen: dict[Path, str] = field(default_factory=dict)
    _said: dict[int, "_Said"] = field(default_factory=dict)
    _n_started: int = 0

    @property
    def out(self) -> Path:
        """The results folder."""
        return self.folder / "results"

    @property
    def environment(self) -> dict[str, str]:
        """What processes of this round are given, and are known by, whatever their parent."""
        return {"OMP_NUM_THREADS": "1", "BENCH_CACHE": str(self.cache), "BENCH_SOAK": str(self.folder)}

    def start(
        self, environment: Mapping[str, str] | None = None, *, words: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a run of the grid, with more words on its command line if any are given."""
        self._n_started += 1
        return self._bench("run", *GRID, *words, environment=environment)

    def ask(self, command: str) -> None:
        """Run a short command over the results; what is wrong with its end is noted."""
        self.ended(self._bench(command), allowed=(0, 2))

    def _bench(
        self, command: str, *more: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        there = {**os.environ, **self.environment, **(environment or {})}
        process = subprocess.Popen(
            [sys.executable, "-m", "bench", command, *more, "--out", str(self.out)],
            stdout=subprocess.DEVNULL,
            # No file: a limit on the size of files is not for what the run says.
            stderr=subprocess.PIPE,
            env=there,
        )
        self._said[process.pid] = said = _Said(process)
        said.start()
        return process

    def ended(self, process: subprocess.Popen[bytes], allowed: tuple[int, ...]) -> int:
        """Wait for a process; note its exit code, and what is wrong with it or with what it said."""
        try:
            code = process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
            self.problems.append(f"hang: not ended after {LONGEST_S:.0f} s")
        said = self._said[process.pid].text()
        self.exits[str(code) if code >= 0 else signal.Signals(-code).name] += 1
        if "Traceback (most recent call last)" in said:
            self.problems.append(f"traceback: {said.strip()[-1500:]}")
        if code not in allowed:
            self.problems.append(f"exit code {code}: {said.strip()[-500:]}")
        if code == 2 and not said.rstrip().rpartition("\n")[2].startswith(("error: ", "Error: ")):
            self.problems.append(f"exit code 2 without its one line: {said.strip()[-500:]}")
        for line in said.splitlines():
            words = line.split()
            if "trained," in words:
                self.n_trained += int(words[words.index("trained,") - 1])
        return code

    def look(self) -> None:
        """Note finished cells; one that was seen finished must stay as it is, byte for byte."""
        for path, content in self._seen.items():
            if path.parent in self.damaged:
                continue
            now = _digest(path)
            if now != content:
                how = "lost" if now is None else "trained twice"
                self.problems.append(f"finished cell {how}: {path.relative_to(self.out)}")
        self._seen = {path: content for path in self.finished() if (content := _digest(path)) is not None}

    def finished(self) -> list[Path]:
        """Return the records of finished cells."""
        found = []
        for path in sorted(self.out.rglob("record.json")):
            try:
                if json.loads(path.read_bytes())["outcome"] == "ok":
                    found.append(path)
            except (OSError, ValueError):
                # Damaged on purpose, or replaced at this moment.
                continue
        return found

    def run(self, strike: Strike, *, allowed: tuple[int, ...], every_s: float = 3.0) -> None:
        """Run the grid to its end while something strikes now and then; start it again whenever it has stopped.

        ``strike`` is given the process of the run and returns what it did, None for nothing.
        """
        deadline = time.monotonic() + LONGEST_S
        process = self.start()
        while time.monotonic() < deadline and self._n_started < MOST_STARTS:
            try:
                process.wait(self.draw.uniform(0.2, 2 * every_s))
            except subprocess.TimeoutExpired:
                self.look()
                done = strike(process)
                self.faults.update([done] if done else [])
                continue
            code = self.ended(process, allowed)
            self.look()
            if code == 0:
                return
            process = self.start()
        process.kill()
        process.wait()
        self.problems.append(f"hang: not finished after {self._n_started} starts and {LONGEST_S:.0f} s")

    def compare(self) -> None:
        """Note what is not as in the undisturbed run, and processes that are left."""
        self.look()
        try:
            self.problems += [*incomplete(self.out), *differences(self.calm, self.out), *self._unlike()]
        except (BenchError, SystemExit) as error:
            self.problems.append(f"results not readable: {error}")
        self.problems += survivors(self.folder)

    def _unlike(self) -> list[str]:
        """Return which files beside the cells are not as in the undisturbed run."""
        names = [path.relative_to(self.calm) for path in self.calm.glob("splits/*.json")] + [
            Path("planned.json")
        ]
        return [
            f"{name}: not as in the undisturbed run"
            for name in names
            if _digest(self.out / name) != _digest(self.calm / name)
        ]


class _Said(threading.Thread):
    """Hears what a process says on its standard error."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        self._process, self._parts = process, bytearray()

    def run(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as source:
            while part := os.read(source.fileno(), 1 << 16):
                self._parts += part

    def text(self) -> str:
        """Return what was said; a process that is left keeps the pipe open, and is not waited for long."""
        self.join(FAREWELL_S)
        return self._parts.decode("utf-8", errors="replace")


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
