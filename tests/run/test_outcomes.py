"""Whatever a cell does, it ends in one record, and the others go on."""

from pathlib import Path

import pytest

from tests.run.conftest import Run


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


def test_a_cell_that_takes_too_long_is_a_timeout(run: Run) -> None:
    ran = run("Sleeps", cell_timeout=8.0)
    assert ran.record.outcome == "timeout"
    assert ran.record.error is not None
    assert "not finished after 8 s" in ran.record.error.message


def test_out_of_memory_is_tried_once_with_half_and_recorded(run: Run) -> None:
    record = run("OutOfMemory", sets=["largest_batch=4"]).record
    assert record.outcome == "ok"
    assert record.micro_batch_size_used == 4


def test_out_of_memory_twice_is_a_record(run: Run) -> None:
    assert run("OutOfMemory", sets=["largest_batch=3"]).record.outcome == "out-of-memory"


@pytest.mark.parametrize("steps_alive", [1, 4, 8], ids=["first epoch", "second epoch", "last epoch"])
def test_a_killed_cell_goes_on_and_gives_the_same_bytes(
    run: Run, graves: Path, tmp_path: Path, steps_alive: int
) -> None:
    sets = [f"graves='{graves}'", f"steps_alive={steps_alive}"]
    calm = run("KillsItself", out="calm", sets=sets).record
    killed = run("KillsItself", out="killed", sets=[*sets, "deaths=1"]).record
    assert len(list(graves.iterdir())) == 1
    assert (killed.outcome, killed.metrics) == ("ok", calm.metrics)
    assert killed.files == calm.files
    assert not list((tmp_path / "killed").rglob("*.tmp"))
    assert not list((tmp_path / "killed").rglob("checkpoint.pt"))


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
def test_determinism_reaches_the_worker_and_the_record(run: Run, graves: Path, asked: bool) -> None:
    record = run("SeesDeterminism", sets=[f"graves='{graves}'"], deterministic=asked).record
    assert [path.name for path in graves.iterdir()] == [str(asked)]
    assert record.environment.deterministic
