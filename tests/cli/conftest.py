"""A small simulated dataset and the command line as a user meets it."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.datasets.simulate.cohort import simulate

SMALL = [
    *("--set", "epochs=2", "--set", "batch_size=32", "--set", "d_model=16", "--set", "n_layers=1"),
    *("--seeds", "41", "--device", "cpu"),
]


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a simulated UCI-HAR of a few windows."""
    root = tmp_path_factory.mktemp("data")
    simulate("uci-har", root, n_subjects=4, seconds=4.0, seed=1)
    return root


@dataclass(frozen=True)
class Finished:
    """What a command line left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Bench = Callable[..., Finished]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Run ``bench`` with arguments in a folder of its own."""

    def run(*arguments: object, timeout_s: float = 240, **environment: str) -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "bench", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run
