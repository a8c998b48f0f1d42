"""What workers share: cells of another run, and GPUs."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from bench.datasets import prepare
from bench.plan.grid import plan
from bench.plan.request import make_request
from bench.run.gpus import least_used, visible_gpus
from bench.run.grid import Resources, make_jobs
from bench.run.job import Job
from bench.run.pool import Finished, Started, run_jobs
from tests.run.conftest import OWN, Run

HELD_S = 4.0


def jobs_of(data: Path, out: Path, *class_names: str, sets: tuple[str, ...] = ()) -> list[Job]:
    request = make_request(
        models_text=",".join(f"{OWN}:{name}" for name in class_names),
        datasets_text="uci-har",
        seeds_text="41",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=("epochs=1", *sets),
    )
    return make_jobs(
        plan(request, {"uci-har": prepare("uci-har", data)}, out), data, out, Resources(device="cpu")
    )


@pytest.fixture
def held(data: Path, tmp_path: Path) -> Iterator[Job]:
    """A cell that another run holds for a while."""
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    job.folder.path.mkdir(parents=True)
    lock = FileLock(job.folder.lock, thread_local=False)
    lock.acquire()
    timer = threading.Timer(HELD_S, lock.release)
    timer.start()
    yield job
    timer.join()


def test_waiting_for_a_cell_of_another_run_starts_no_worker_and_burns_no_time(held: Job) -> None:
    clock, used = time.monotonic(), time.process_time()
    events = iter(run_jobs([held], n_workers=1))
    assert isinstance(next(events), Started)
    assert time.monotonic() - clock > HELD_S - 1
    assert time.process_time() - used < 0.5
    assert [event.ended.outcome for event in events if isinstance(event, Finished)] == ["ok"]


@pytest.mark.parametrize(("other_scores", "reported"), [(False, []), (True, ["differs-1.json"])])
def test_a_cell_trained_twice_keeps_the_first_record_and_reports_other_scores(
    run: Run, graves: Path, tmp_path: Path, other_scores: bool, reported: list[str]
) -> None:
    sets = [f"graves='{graves}'"]
    run("Overtaken", out="other", sets=sets)
    (record,) = (tmp_path / "other").rglob("record.json")
    if other_scores:
        content = json.loads(record.read_text())
        content["metrics"]["test"]["f1"] = 0.123
        record.write_text(json.dumps(content))
    (graves / "other").symlink_to(record.parent)
    assert run("Overtaken", sets=sets).outcomes == {"ok": 1}
    (kept,) = (tmp_path / "r").rglob("record.json")
    assert kept.read_bytes() == record.read_bytes()
    assert [path.name for path in kept.parent.glob("differs-*")] == reported


def test_every_worker_sees_the_gpu_it_was_given(data: Path, tmp_path: Path, graves: Path) -> None:
    jobs = jobs_of(data, tmp_path / "r", "SeesGpus", sets=(f"graves='{graves}'",))
    list(run_jobs(jobs, n_workers=1, gpus=["3"]))
    assert [path.name for path in graves.iterdir()] == ["3"]


def test_gpus_are_shared_evenly() -> None:
    in_use: list[str | None] = []
    for _ in range(5):
        in_use.append(least_used(["0", "1"], in_use))
    assert Counter(in_use) == {"0": 3, "1": 2}


def test_without_gpus_nobody_gets_one() -> None:
    assert least_used([], ["0"]) is None
    assert visible_gpus("cpu") == ()


def test_gpus_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, GPU-abc")
    assert visible_gpus("cuda") == ("2", "GPU-abc")
