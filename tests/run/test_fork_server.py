"""The process that workers are forked from: whatever asks for it first, it has the slow imports and runs nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import processes
from bench.errors import BenchError
from bench.run.pool import run_jobs
from tests.run.conftest import OWN, jobs_of

# A run from a cold cache, with processes that cut; then what a forked process finds, and the fork server's threads.
SCRIPT = """
import json, sys
from multiprocessing import forkserver
from pathlib import Path
from bench.plan.request import make_request
from bench.processes import fork_server
from bench.run.resources import Resources
from bench.run.run_grid import execute

model, data, out = sys.argv[1:]
request = make_request(models_text=model, datasets_text="uci-har", seeds_text="41", preset_name="paper",
                       recipe_name="medmamba", assignments=("epochs=1", "batch_size=32"))
print(execute(request, Path(data), Path(out), Resources(device="cpu", jobs=2)))
look = '''
import json, pathlib, sys
torch = sys.modules.get("torch")
found = {"torch": torch is not None, "cuda": torch is not None and torch.cuda.is_initialized()}
pathlib.Path(out).write_text(json.dumps(found))
'''
process = fork_server().Process(target=exec, args=(look, {"out": out + ".json"}))
process.start()
threads = len(list(Path(f"/proc/{forkserver._forkserver._forkserver_pid}/task").iterdir()))
process.join()
print(json.dumps({"threads": threads, **json.loads(Path(out + ".json").read_text())}))
"""


@pytest.fixture(scope="module")
def found(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("forked")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "BENCH_CACHE": str(folder / "cache"),
    }
    environment.pop("OPENBLAS_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, f"{OWN}:Good", str(data), str(folder / "r")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    summary, *_, looked = done.stdout.splitlines()
    assert summary == "1 trained, 0 already done"
    return json.loads(looked)


def test_cutting_a_cold_cache_first_leaves_the_imports_to_the_fork_server(found: dict[str, object]) -> None:
    assert found["torch"]


def test_nothing_runs_in_it_before_a_fork(found: dict[str, object]) -> None:
    assert (found["threads"], found["cuda"]) == (1, False)


def test_fork_server_that_dies_at_every_start_is_an_error_in_words(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dead(_preload: object) -> None:
        raise EOFError

    monkeypatch.setattr(processes, "fork_server", dead)
    monkeypatch.setattr(processes, "FORK_SERVER_S", 0.0)
    with pytest.raises(BenchError, match="dies again and again"):
        list(run_jobs(jobs_of(data, tmp_path, "Good"), n_workers=1))


def test_fork_server_whose_imports_fail_ends_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "unimportable.py").write_text("raise OSError('no room\\nfor it')")
    script = """
from multiprocessing import forkserver
from bench.processes import fork_server
fork_server(("unimportable",))
import os
os.waitpid(forkserver._forkserver._forkserver_pid, 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": f"{Path(__file__).parents[2]}:{tmp_path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    why = "(OSError: no room for it)"
    assert done.stderr == f"the process that workers are forked from ended while it started {why}\n"
