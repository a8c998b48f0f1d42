"""What workers share: cells of another run, and GPUs."""

import errno
import fcntl
import json
import multiprocessing
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import pytest
from filelock import FileLock

from bench.locks import NO_LOCKS
from bench.results.record import Failure
from bench.run.cell_lock import is_locked, locked
from bench.run.ended import Ended
from bench.run.failure import record_failure
from bench.run.job import Job
from bench.run.pool import Finished, Started, _fail, _Running, _Waiting, run_jobs
from bench.run.resources import least_used, visible_gpus
from bench.run.worker import teller
from tests.run.conftest import Run, jobs_of

HELD_S = 1.0


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
    assert time.monotonic() - clock > 0.5 * HELD_S
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


@pytest.mark.parametrize("code", sorted(NO_LOCKS))
def test_without_locks_a_cell_is_trained_all_the_same_and_one_line_says_so(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(code, os.strerror(code))

    (job,) = jobs_of(data, tmp_path / "r", "Good")
    monkeypatch.setattr(fcntl, "flock", refuse)
    for _ in range(2):
        with locked(job.folder):
            assert not is_locked(job.folder)
    assert caplog.text.count("its file system has no locks") == 1


def test_another_fault_of_a_lock_is_not_taken_for_a_file_system_without(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(errno.EIO, "input/output error")

    (job,) = jobs_of(data, tmp_path / "r", "Good")
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="input/output error"), locked(job.folder):
        pass


@pytest.mark.parametrize("retried", [False, True])
def test_what_another_run_found_failing_meanwhile_is_not_trained_again(
    data: Path, tmp_path: Path, retried: bool
) -> None:
    out = tmp_path / "r"
    if retried:
        list(run_jobs(jobs_of(data, out, "Raises"), n_workers=1))
    ours, others = jobs_of(data, out, "Raises"), jobs_of(data, out, "Raises")
    list(run_jobs(others, n_workers=1))
    (record,) = out.rglob("record.json")
    before = record.read_bytes()
    (event,) = [event for event in run_jobs(ours, n_workers=1) if isinstance(event, Finished)]
    assert event.ended.outcome == "failed"
    assert "mistake 42 (record of another attempt)" in event.ended.message
    assert record.read_bytes() == before


def test_a_failure_of_a_cell_that_another_run_holds_is_not_recorded_but_waited_for(
    data: Path, tmp_path: Path
) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    job.folder.path.mkdir(parents=True)
    child = mock.Mock()
    queue: deque[_Waiting] = deque()
    with FileLock(job.folder.lock):
        events = list(
            _fail(
                _Running(_Waiting(job), child),
                queue,
                "timeout",
                Failure(kind="Timeout", message="late"),
            )
        )
    assert events == []
    assert [waiting.job for waiting in queue] == [job]
    assert not job.folder.record.exists()


def test_the_record_of_a_lost_worker_leaves_one_that_is_there(data: Path, tmp_path: Path) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    list(run_jobs([job], n_workers=1))
    (record,) = (tmp_path / "r").rglob("record.json")
    before = record.read_bytes()
    ended = record_failure(job, "failed", Failure(kind="Lost", message="node"), datetime.now(UTC))
    assert ended.outcome == "already-done"
    assert record.read_bytes() == before


def test_a_worker_that_nobody_listens_to_goes_on() -> None:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    ours.close()
    teller(theirs)(Ended("ok"))


def test_other_scores_are_said_by_the_run_and_kept_with_their_environment(
    data: Path, graves: Path, tmp_path: Path
) -> None:
    sets = (f"graves='{graves}'",)
    list(run_jobs(jobs_of(data, tmp_path / "other", "Overtaken", sets=sets), n_workers=1))
    (record,) = (tmp_path / "other").rglob("record.json")
    content = json.loads(record.read_text())
    content["metrics"]["test"]["f1"] = 0.123
    record.write_text(json.dumps(content))
    (graves / "other").symlink_to(record.parent)
    jobs = jobs_of(data, tmp_path / "r", "Overtaken", sets=sets)
    (event,) = [event for event in run_jobs(jobs, n_workers=1) if isinstance(event, Finished)]
    assert "differs-1.json" in event.ended.message
    differing = json.loads(next((tmp_path / "r").rglob("differs-1.json")).read_text())
    assert differing["environment"]["device"] == "cpu"
