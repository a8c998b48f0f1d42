"""The Ray backend on a cluster of two nodes on this machine, faults included."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench.datasets import prepare
from bench.errors import UsageError
from bench.plan.grid import plan
from bench.plan.request import make_request
from bench.results.record import Record
from bench.results.store import read_all
from bench.run.grid import Resources, execute, make_jobs
from bench.run.ray_backend import _unpack, run_here
from tests.run.conftest import OWN
from tests.run.test_parent import wait_for

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


def run(data: Path, out: Path, *, backend: str, address: str | None = None) -> dict[tuple[str, int], Record]:
    """Train three models with two seeds and return the records by model and seed."""
    request = make_request(
        models_text=f"transformer,{OWN}:Good,{OWN}:Sleeps",
        datasets_text="uci-har",
        seeds_text="41,42",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=("epochs=3", "batch_size=8", "d_model=16", "n_layers=1", "sleep_s=0.5"),
    )
    resources = Resources(device="cpu", jobs=2, backend=backend, address=address)  # type: ignore[arg-type]
    summary = execute(request, data, out, resources)
    records, damaged = read_all(out)
    assert not damaged
    assert summary.outcomes == {"ok": 6}, summary
    return {(one.cell.model, one.cell.seed): one for one in records}


def results(records: dict[tuple[str, int], Record]) -> dict[tuple[str, int], tuple[object, object]]:
    return {name: (record.metrics, record.files) for name, record in records.items()}


def when_half_done(out: Path, strike: Callable[[], None]) -> threading.Thread:
    """Start a thread that does something to the cluster once two cells are done."""

    def wait_and_strike() -> None:
        wait_for(lambda: len(list(out.rglob("record.json"))) >= 2, "two cells")
        strike()

    thread = threading.Thread(target=wait_and_strike)
    thread.start()
    return thread


def kill_ray_workers() -> None:
    """Kill the processes that run tasks of this test's cluster."""
    for process in psutil.Process().children(recursive=True):
        if process.name().startswith("ray::own_models") or "ray::own_models" in " ".join(process.cmdline()):
            process.kill()


@pytest.mark.parametrize("struck", ["a node", "the workers"])
def test_a_cluster_that_loses_a_part_gives_the_local_results(
    cluster: Any, data: Path, tmp_path: Path, struck: str
) -> None:
    second = cluster.list_all_nodes()[-1]
    strikes = {
        "a node": lambda: cluster.remove_node(second, allow_graceful=False),
        "the workers": kill_ray_workers,
    }
    thread = when_half_done(tmp_path / "ray", strikes[struck])
    found = run(data, tmp_path / "ray", backend="ray", address=cluster.address)
    thread.join()
    assert results(found) == results(run(data, tmp_path / "local", backend="local"))
    assert not [path.name for path in (tmp_path / "ray").rglob("*") if path.suffix in (".tmp", ".pt")]
    assert not list((tmp_path / "ray").glob(".shared-*"))


def test_an_address_without_a_cluster_is_refused_at_once(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--address 127\.0\.0\.1:1: no Ray cluster there"):
        run(data, tmp_path / "r", backend="ray", address="127.0.0.1:1")


def test_files_of_a_node_without_the_folder_are_sent_and_written(data: Path, tmp_path: Path) -> None:
    request = make_request(
        models_text=f"{OWN}:Good",
        datasets_text="uci-har",
        seeds_text="41",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=("epochs=2",),
    )
    cells = plan(request, {"uci-har": prepare("uci-har", data)}, tmp_path / "r")
    (job,) = make_jobs(cells, data, tmp_path / "r", Resources(device="cpu"))
    shipped = run_here(job, tmp_path / "no-such-token", None)
    assert not list(job.out.rglob("record.json"))
    assert sorted(shipped.files) == ["log.txt", "predictions.npz", "record.json", "weights.safetensors"]
    _unpack(job, shipped)
    (one,) = plan(request, {"uci-har": prepare("uci-har", data)}, tmp_path / "r")
    assert one.status == "done"
    assert "epoch 2" in job.folder.log.read_text()
