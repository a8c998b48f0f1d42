"""A small simulated dataset and the command line as a user meets it."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.cli import main
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
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Run ``bench`` with arguments in a folder of its own, in this process: with its imports and its fork server."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, **environment: str) -> Finished:
        done = CliRunner(env=environment).invoke(main, list(map(str, arguments)), catch_exceptions=False)
        return Finished(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def unreported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have ``bench run`` end with its cells; that it reports is one test's matter."""
    monkeypatch.setattr("bench.cli.run.render_and_print", lambda *_: None)


@pytest.fixture
def process(tmp_path: Path) -> Bench:
    """Run ``python -m bench`` in a folder of its own, in a process that has imported nothing yet."""

    def run(*arguments: object, **environment: str) -> Finished:
        done = subprocess.run(
            [sys.executable, "-m", "bench", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run
