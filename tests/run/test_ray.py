"""The Ray backend on a cluster of two nodes on this machine, faults included."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from filelock import FileLock, Timeout

from bench.datasets.simulate.cohort import simulate
from bench.errors import UsageError
from bench.plan.request import make_request
from bench.results.record import Failure, Record
from bench.results.store import find_record, read_all
from bench.run.ray_backend import _device, _take, connected, run_here
from bench.run.resources import Resources
from bench.run.run_grid import execute
from tests.fixtures.waiting import wait_for
from tests.run.conftest import OWN, jobs_of

pytest.importorskip("ray", reason="Ray is not installed: pip install 'medmamba-bench[ray]'")
pytestmark = [
    pytest.mark.slow,
    # Ray's own: sockets and files left to the interpreter, and calls that Python deprecates.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def cluster(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head and a second node, one core each."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
    started = Cluster(initialize_head=True, head_node_args=small)
    started.add_node(num_cpus=1, object_store_memory=80 << 20)
    started.wait_for_nodes()
    yield started
    started.shutdown()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two small simulated datasets."""
    root = tmp_path_factory.mktemp("two")
    simulate("uci-har", root, n_subjects=4, seconds=4.0, seed=1)
    simulate("apava", root, n_subjects=23, seconds=5.0, seed=1)
    return root


def run(data: Path, out: Path, *, backend: str, address: str | None = None) -> dict[tuple[str, str], Record]:
    """Train three models on two datasets with one seed and return the records by model and dataset."""
    request = make_request(
        models_text=f"transformer,{OWN}:Good,{OWN}:Sleeps",
        datasets_text="uci-har,apava",
        seeds_text="41",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=("epochs=3", "batch_size=8", "d_model=16", "n_layers=1", "sleep_s=0.5"),
    )
    resources = Resources(device="cpu", jobs=2, backend=backend, address=address)  # type: ignore[arg-type]
    summary = execute(request, data, out, resources)
    records, damaged = read_all(out)
    assert not damaged
    # A worker that dies after its record is tried again, and finds the cell done.
    assert (summary.n_cells, summary.n_bad) == (6, 0), summary
    return {(record.cell.model, record.cell.dataset): record for record in records}


def results(records: dict[tuple[str, str], Record]) -> dict[tuple[str, str], tuple[object, object]]:
    return {name: (record.metrics, record.files) for name, record in records.items()}


def when_half_done(out: Path, strike: Callable[[], int]) -> tuple[threading.Thread, list[tuple[int, int]]]:
    """Start a thread that strikes once two cells are done; it notes how many were done, and how many it struck."""
    struck: list[tuple[int, int]] = []

    def wait_and_strike() -> None:
        wait_for(lambda: len(list(out.rglob("record.json"))) >= 2, "two cells")
        struck.append((len(list(out.rglob("record.json"))), strike()))

    thread = threading.Thread(target=wait_and_strike)
    thread.start()
    return thread, struck


def kill_ray_workers() -> int:
    """Kill the processes that run tasks of this test's cluster; return how many."""
    n_killed = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            # By the cell in the title that Ray gives them: a node dies with its agents, which have titles too.
            title = (process.cmdline() or [""])[0]
            if title.startswith("ray::") and " / " in title:
                process.kill()
                n_killed += 1
    return n_killed


def remove_node(cluster: Any) -> int:
    cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
    return 1


@pytest.mark.parametrize("part", ["a node", "the workers"])
def test_a_cluster_that_loses_a_part_gives_the_local_results(
    cluster: Any, two: Path, tmp_path: Path, part: str
) -> None:
    strike = kill_ray_workers if part == "the workers" else lambda: remove_node(cluster)
    thread, struck = when_half_done(tmp_path / "ray", strike)
    found = run(two, tmp_path / "ray", backend="ray", address=cluster.address)
    thread.join()
    ((n_done, n_struck),) = struck
    assert n_done < 6
    assert n_struck >= 1
    assert results(found) == results(run(two, tmp_path / "local", backend="local"))
    assert not [path.name for path in (tmp_path / "ray").rglob("*") if path.suffix in (".tmp", ".pt")]
    assert not list((tmp_path / "ray").glob(".shared-*"))


def test_a_cluster_without_the_folder_sends_all_back_failures_included(
    cluster: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.run.ray_backend._token", lambda _out: nullcontext(tmp_path / "no-token"))
    request = make_request(
        models_text=f"{OWN}:Good,{OWN}:Raises",
        datasets_text="uci-har",
        seeds_text="41",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=("epochs=1",),
    )
    resources = Resources(device="cpu", backend="ray", address=cluster.address)
    assert execute(request, data, tmp_path / "r", resources).outcomes == {"ok": 1, "failed": 1}
    records, damaged = read_all(tmp_path / "r")
    assert not damaged
    assert {record.outcome for record in records} == {"ok", "failed"}


def test_what_no_node_has_is_refused(cluster: Any, data: Path, tmp_path: Path) -> None:
    for wanted, message in (({"threads": 64}, "--threads 64"), ({"device": "cuda"}, "--device cuda")):
        resources = Resources(backend="ray", address=cluster.address, **wanted)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=message), connected(resources):
            pass


def test_the_cluster_says_whether_cells_use_gpus() -> None:
    nodes = [{"CPU": 4.0}, {"CPU": 4.0, "GPU": 2.0}]
    assert _device(Resources(), nodes) == "cuda"
    assert _device(Resources(device="cpu"), nodes) == "cpu"
    assert _device(Resources(), nodes[:1]) == "cpu"


def test_an_address_without_a_cluster_is_refused_at_once(two: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--address 127\.0\.0\.1:1: no Ray cluster there"):
        run(two, tmp_path / "r", backend="ray", address="127.0.0.1:1")


def test_files_of_a_node_without_the_folder_are_sent_and_written(data: Path, tmp_path: Path) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    shipped = run_here(job, tmp_path / "no-such-token", None)
    assert not list(job.out.rglob("record.json"))
    assert sorted(shipped.files) == ["log.txt", "predictions.npz", "record.json", "weights.safetensors"]
    assert _take(job, shipped).outcome == "ok"
    record = find_record(job.out, job.name, job.cell.key)
    assert record is not None
    assert record.is_done
    assert "epoch 1" in job.folder.log.read_text()


def test_a_sent_result_waits_for_the_run_that_holds_its_cell(data: Path, tmp_path: Path) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    shipped = run_here(job, tmp_path / "no-such-token", None)
    job.folder.path.mkdir(parents=True)
    with FileLock(job.folder.lock), pytest.raises(Timeout):
        _take(job, shipped)
    assert _take(job, shipped).outcome == "ok"
    assert len(list(job.out.rglob("record.json"))) == 1


def test_a_sent_result_with_other_scores_is_kept_beside_and_said(data: Path, tmp_path: Path) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    shipped = run_here(job, tmp_path / "no-such-token", None)
    _take(job, shipped)
    changed = re.sub(rb'"accuracy": [0-9.]+', b'"accuracy": 0.123', shipped.files["record.json"])
    ended = _take(job, replace(shipped, files={**shipped.files, "record.json": changed}))
    assert "differs-1.json" in ended.message
    assert (job.folder.path / "differs-1.json").exists()


def test_a_lost_task_leaves_the_record_that_is_there(data: Path, tmp_path: Path) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    _take(job, run_here(job, tmp_path / "no-such-token", None))
    assert _take(job, Failure(kind="NodeDied", message="gone")).outcome == "already-done"
