"""Whatever a cell does, it ends in one record, and the others go on."""

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
import torch

from bench.errors import BenchError
from bench.results.store import CellFolder
from bench.run import pool
from bench.run.cells.train_cell import run_cell
from bench.run.failure import drop_stacks, environment_of
from bench.run.pool import Finished, run_jobs
from tests.fixtures.waiting import is_running, wait_for
from tests.run.conftest import OWN, Calm, Run, jobs_of


def test_an_exception_is_a_record_with_its_traceback_and_the_others_go_on(run: Run) -> None:
    ran = run("Raises", "Good", jobs=2)
    assert ran.outcomes == {"failed": 1, "ok": 1}
    failed = next(record for record in ran.records if record.outcome == "failed")
    assert failed.error is not None
    assert failed.error.message == "mistake 42"
    assert "misbehave" in failed.error.traceback


def test_a_loss_that_is_not_finite_is_divergence(run: Run) -> None:
    record = run("Diverges").record
    assert record.outcome == "diverged"
    assert record.metrics is None


def test_a_logit_too_many_is_refused_before_training(run: Run) -> None:
    error = run("OneLogitTooMany").record.error
    assert error is not None
    assert "give an output of shape (2, 7), expected logits (2, 6)" in error.message


def test_out_of_memory_is_tried_once_with_half_and_recorded(run: Run) -> None:
    record = run("OutOfMemory", sets=["largest_batch=4"]).record
    assert record.outcome == "ok"
    assert record.micro_batch_size_used == 4


def test_out_of_memory_twice_is_a_record(run: Run) -> None:
    assert run("OutOfMemory", sets=["largest_batch=3"]).record.outcome == "out-of-memory"


@pytest.mark.parametrize("steps_alive", [1, 4, 8], ids=["first epoch", "second epoch", "last epoch"])
def test_a_killed_cell_goes_on_and_gives_the_same_bytes(
    run: Run, calm: Calm, graves: Path, tmp_path: Path, steps_alive: int
) -> None:
    killed = run("KillsItself", sets=[f"graves='{graves}'", f"steps_alive={steps_alive}", "deaths=1"]).record
    assert len(list(graves.iterdir())) == 1
    undisturbed = calm("KillsItself")
    assert (killed.outcome, killed.metrics) == ("ok", undisturbed.metrics)
    assert killed.files == undisturbed.files
    assert not list((tmp_path / "r").rglob("*.tmp"))
    assert not list((tmp_path / "r").rglob("checkpoint.pt"))


def test_a_cell_that_always_dies_is_a_record(run: Run, graves: Path) -> None:
    record = run("KillsItself", sets=[f"graves='{graves}'", "deaths=99"]).record
    assert record.outcome == "failed"
    assert record.error is not None
    assert "SIGKILL" in record.error.message
    assert len(list(graves.iterdir())) == 3


def test_failed_cells_are_kept_until_asked_for(run: Run) -> None:
    run("Raises")
    assert run("Raises").outcomes == {"failed before": 1}
    assert run("Raises", retry_failed=True).outcomes == {"failed": 1}


def test_fail_fast_stops_at_the_first_failure(run: Run) -> None:
    ran = run("Raises", "Sleeps", fail_fast=True)
    assert ran.outcomes == {"failed": 1}
    assert len(ran.records) == 1


@pytest.mark.parametrize("asked", [True, False])
def test_determinism_reaches_the_worker(run: Run, graves: Path, asked: bool) -> None:
    run("SeesDeterminism", sets=[f"graves='{graves}'"], deterministic=asked)
    assert [path.name for path in graves.iterdir()] == [str(asked)]


@pytest.mark.parametrize("asked", [True, False])
def test_a_gpu_is_deterministic_only_when_asked(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    monkeypatch.setattr("bench.measure.environment._gpu", lambda: ("g", "d"))
    environment = environment_of(replace(job, device="cuda", deterministic=asked), None)
    assert (environment.device_name, environment.driver, environment.deterministic) == ("g", "d", asked)


def test_training_rounds_no_product_to_tf32(data: Path, tmp_path: Path) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good")
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = True
    try:
        record, _ = run_cell(job, lambda _: None)
        assert not torch.backends.cudnn.allow_tf32
    finally:
        torch.backends.cudnn.allow_tf32 = before
    assert record.environment.tf32 is False


def test_memory_beyond_the_share_is_out_of_memory_and_half_the_windows_are_tried(run: Run) -> None:
    sets = ["gib_per_window=0.5"]
    assert run("Allocates", sets=sets, memory_bytes=3 << 30).record.micro_batch_size_used == 4
    record = run("Allocates", out="small", sets=sets, memory_bytes=1 << 30).record
    assert (record.outcome, record.micro_batch_size_used) == ("out-of-memory", 4)


def test_half_the_windows_start_afresh(run: Run, tmp_path: Path) -> None:
    calm = run("OutOfMemory", out="calm", sets=["micro_batch_size=4"]).record
    late = run("OutOfMemory", sets=["largest_batch=4", "steps_alive=4"]).record
    assert late.micro_batch_size_used == 4
    assert late.metrics == calm.metrics
    assert "the training starts afresh" in next((tmp_path / "r").rglob("log.txt")).read_text()


def test_half_of_fewer_windows_than_a_batch_is_half_of_those(data: Path, tmp_path: Path) -> None:
    (job,) = jobs_of(data, tmp_path / "r", "Good", sets=("batch_size=512", "max_train_windows=6"))
    smaller = job.smaller()
    assert smaller is not None
    assert smaller.micro_batch_size == 3


def test_a_cell_that_takes_too_long_is_a_timeout_and_says_where_it_was(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour passes when the cell has fallen asleep."""

    def an_hour_later() -> float:
        asleep = any("asleep" in log.read_text() for log in tmp_path.rglob("log.txt"))
        return time.monotonic() + 3600 * asleep

    monkeypatch.setattr(pool, "time", mock.Mock(monotonic=an_hour_later, sleep=time.sleep))
    record = run("Sleeps", cell_timeout=1800.0).record
    assert record.outcome == "timeout"
    assert record.error is not None
    assert "not finished after 1800 s" in record.error.message
    assert "in misbehave" in record.error.traceback


def test_a_crash_of_native_code_says_where(run: Run) -> None:
    record = run("Segfaults").record
    assert record.error is not None
    assert "SIGSEGV" in record.error.message
    assert "in misbehave" in record.error.traceback


def test_a_log_that_goes_on_forgets_where_it_was_stopped_but_not_where_it_crashed(tmp_path: Path) -> None:
    """faulthandler itself writes what is to be told apart."""
    crashes = "ctypes.string_at(0)"
    stops = (
        "faulthandler.register(signal.SIGUSR1, sys.stderr, chain=True); os.kill(os.getpid(), signal.SIGUSR1)"
    )
    waits = "threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); time.sleep(0.1)"
    imports = "import ctypes, faulthandler, os, signal, sys, threading, time"
    folder = CellFolder(tmp_path)
    with folder.log.open("wb", buffering=0) as log:
        for ending in (crashes, stops):
            log.write(b"epoch\n")
            code = f"{imports}; faulthandler.enable(); {waits}; {ending}"
            subprocess.run([sys.executable, "-c", code], stderr=log, check=False)
    crash, stop = folder.log.read_text().removeprefix("epoch\n").split("epoch\n")
    assert "most recent call first" in stop
    drop_stacks(folder)
    assert folder.log.read_text() == f"epoch\n{crash}epoch\n"


@pytest.mark.parametrize(
    ("ending", "outcome", "said"),
    [
        ("", "ok", None),
        ("SIGKILL", "ok", None),
        ("sys.exit", "failed", "left"),
        ("os._exit", "failed", "the worker died (exit code 0) in attempt 1"),
    ],
)
def test_what_a_cell_forks_ends_with_it(
    run: Run, graves: Path, ending: str, outcome: str, said: str | None
) -> None:
    record = run("Forks", sets=[f"graves='{graves}'", f"ending='{ending}'"]).record
    assert record.outcome == outcome
    assert said is None or (record.error is not None and record.error.message.startswith(said))
    (forked,) = graves.iterdir()
    wait_for(lambda: not is_running(int(forked.name)), "the end of what was forked")


def test_a_cell_uses_its_threads_in_every_library(run: Run, graves: Path) -> None:
    run("SeesThreads", sets=[f"graves='{graves}'"], threads=1)
    assert [path.name for path in graves.iterdir()] == ["1"]


def test_a_model_edited_after_the_plan_is_not_trained_under_the_old_key(data: Path, tmp_path: Path) -> None:
    own = tmp_path / "own_net.py"
    shutil.copy(OWN, own)
    (job,) = jobs_of(data, tmp_path / "r", "Good", file=own)
    own.write_text(own.read_text() + "\n# edited\n")
    (event,) = [event for event in run_jobs([job], n_workers=1) if isinstance(event, Finished)]
    assert event.ended.outcome == "failed"
    assert "own_net.py has changed since the cell was planned" in event.ended.message
    assert [path.name for path in (tmp_path / "r").glob("cells/*/*/*")] == [job.folder.path.name]


def test_data_changed_after_the_plan_is_not_trained_under_the_old_key(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "uci-har", tmp_path / "d" / "uci-har")
    (job,) = jobs_of(tmp_path / "d", tmp_path / "r", "Good")
    signals = next((tmp_path / "d").rglob("body_acc_x_train.txt"))
    first, *others = signals.read_text().splitlines()
    signals.write_text("\n".join([*others, first]) + "\n")
    with pytest.raises(BenchError, match="when the cell was planned; run the same command again"):
        list(run_jobs([job], n_workers=1))
    assert not job.folder.record.exists()


def test_a_cell_with_too_many_processes_is_a_failure_and_none_of_them_is_left(
    run: Run, graves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MOST_PROCESSES", 5)
    monkeypatch.setattr(pool, "COUNT_S", 0.1)
    error = run("Crowds", sets=[f"graves='{graves}'"]).record.error
    assert error is not None
    assert error.kind == "TooManyProcesses"
    assert "had 6 processes at once, more than 5" in error.message
    numbers = [int(path.name) for path in graves.iterdir()]
    assert len(numbers) == 6
    wait_for(lambda: not any(map(is_running, numbers)), "processes")
