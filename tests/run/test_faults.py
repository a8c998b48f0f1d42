"""Killed while writing, full disks, damaged files: one valid record each, nothing half left, the same bytes."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.errors import BenchError
from bench.results.record import Record
from bench.run.pool import Finished, run_jobs
from tests.run.conftest import OWN, Calm, Run, jobs_of, quickly, run_own


def leftovers(out: Path) -> list[str]:
    """Return the names of files that only an unfinished cell may have."""
    return [path.name for path in out.rglob("*") if path.suffix in (".tmp", ".pt")]


def assert_as_undisturbed(found: Record, calm: Record) -> None:
    assert (found.outcome, found.metrics) == ("ok", calm.metrics)
    assert found.files == calm.files


@pytest.mark.parametrize("victim", ["checkpoint.pt", "predictions.npz", "weights.safetensors", "record.json"])
def test_killed_while_writing(run: Run, calm: Calm, graves: Path, tmp_path: Path, victim: str) -> None:
    killed = run("DiesWriting", sets=[f"graves='{graves}'", f"victim={victim}", "deaths=1"])
    assert len(list(graves.iterdir())) == 1
    assert_as_undisturbed(killed.record, calm("Good"))
    assert leftovers(tmp_path / "r") == []


def test_a_disk_that_is_full_for_a_while(run: Run, calm: Calm, graves: Path, tmp_path: Path) -> None:
    full = run("DiskFull", sets=[f"graves='{graves}'", "n_bytes=100", "deaths=2"])
    assert len(list(graves.iterdir())) == 2
    assert_as_undisturbed(full.record, calm("Good"))
    assert leftovers(tmp_path / "r") == []


def test_a_disk_that_stays_full_stops_the_run_without_a_record_and_the_next_goes_on(
    run: Run, graves: Path, tmp_path: Path
) -> None:
    sets = [f"graves='{graves}'", "n_bytes=100", "deaths=3"]
    with pytest.raises(BenchError, match=r"File too large.*make room.*run the same command again"):
        run("DiskFull", sets=sets)
    assert not list((tmp_path / "r").rglob("record.json"))
    assert leftovers(tmp_path / "r") == []
    assert run("DiskFull", sets=sets).record.outcome == "ok"


@pytest.mark.parametrize("code", ["EIO", "ESTALE"])
def test_a_disk_that_fails_again_and_again_stops_the_run(run: Run, graves: Path, code: str) -> None:
    with pytest.raises(BenchError, match="bring disk and data back"):
        run("SystemRefuses", sets=[f"graves='{graves}'", f"code={code}", "deaths=99"])
    assert len(list(graves.iterdir())) == 3


def test_data_that_vanished_stops_the_run_without_a_record_and_the_next_goes_on(
    data: Path, tmp_path: Path
) -> None:
    shutil.copytree(data, tmp_path / "data")
    jobs = jobs_of(tmp_path / "data", tmp_path / "r", "Good")
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    with pytest.raises(BenchError, match=r"no such folder.*bring disk and data back"):
        list(run_jobs(jobs, n_workers=1))
    assert not list((tmp_path / "r").rglob("record.json"))
    (tmp_path / "elsewhere").rename(tmp_path / "data")
    assert [event.ended.outcome for event in run_jobs(jobs, n_workers=1) if isinstance(event, Finished)] == [
        "ok"
    ]


@pytest.mark.parametrize(("code", "lives"), [("EMFILE", 3), ("ENOENT", 1)])
def test_faults_of_the_system_are_tried_again_and_mistakes_are_not(
    run: Run, graves: Path, code: str, lives: int
) -> None:
    record = run("SystemRefuses", sets=[f"graves='{graves}'", f"code={code}", "deaths=99"]).record
    assert record.outcome == "failed"
    assert len(list(graves.iterdir())) == lives


def test_no_room_for_any_record_is_one_line_and_the_next_run_goes_on(
    run: Run, data: Path, tmp_path: Path
) -> None:
    arguments = ["run", "--models", f"{OWN}:Good", "--datasets", "uci-har", "--data", str(data), "--out", "r"]
    done = subprocess.run(
        [sys.executable, "-m", "bench", *arguments, "--seeds", "41", "--device", "cpu", "--set", "epochs=2"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        # Room for the list of planned cells, not for a record.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "make room" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "r").rglob("record.json"))
    assert leftovers(tmp_path / "r") == []
    assert run("Good").record.outcome == "ok"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def remove(path: Path) -> None:
    path.unlink()


@pytest.fixture(scope="module")
def finished(
    data: Path, _session_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Record]:
    """A folder with one finished cell, to be copied, and its record."""
    out = tmp_path_factory.mktemp("finished") / "r"
    with quickly(_session_cache):
        return out, run_own(data, out, "Good").record


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("record.json", cut),
        ("predictions.npz", cut),
        ("predictions.npz", flip),
        ("weights.safetensors", cut),
        ("weights.safetensors", remove),
    ],
)
def test_a_damaged_file_is_kept_aside_and_the_cell_done_again(
    run: Run, finished: tuple[Path, Record], tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    out, before = finished
    shutil.copytree(out, tmp_path / "r")
    damage(next((tmp_path / "r").rglob(name)))
    again = run("Good")
    assert again.outcomes == {"ok": 1}
    assert_as_undisturbed(again.record, before)
    kept = {path.name for path in (tmp_path / "r").rglob("damaged-1-*")}
    assert kept == {"damaged-1-record.json", *([f"damaged-1-{name}"] if damage is not remove else [])}
    assert run("Good").outcomes == {"already-done": 1}


@pytest.fixture(scope="module")
def stopped(
    data: Path, _session_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """A folder with a cell that died three times after its first epoch, and the settings to go on with."""
    out, graves = tmp_path_factory.mktemp("stopped") / "r", tmp_path_factory.mktemp("graves")
    sets = [f"graves='{graves}'", "steps_alive=3", "epochs=6", "deaths=3"]
    with quickly(_session_cache):
        assert run_own(data, out, "KillsItself", sets=sets).record.outcome == "failed"
    return out, sets


@pytest.mark.parametrize(
    "damage", [cut, flip, lambda path: path.write_bytes(b"")], ids=["cut", "flip", "empty"]
)
def test_a_damaged_checkpoint_is_kept_aside_and_training_starts_afresh(
    run: Run,
    calm: Calm,
    stopped: tuple[Path, list[str]],
    tmp_path: Path,
    damage: Callable[[Path], None],
) -> None:
    out, sets = stopped
    shutil.copytree(out, tmp_path / "r")
    damage(next((tmp_path / "r").rglob("checkpoint.pt")))
    again = run("KillsItself", sets=sets, retry_failed=True)
    assert_as_undisturbed(again.record, calm("KillsItself", "epochs=6"))
    assert [path.name for path in (tmp_path / "r").rglob("*.pt")] == ["damaged-1-checkpoint.pt"]
    assert "checkpoint is damaged" in next((tmp_path / "r").rglob("log.txt")).read_text()


def test_a_checkpoint_of_another_cell_is_kept_aside(
    run: Run, finished: tuple[Path, Record], stopped: tuple[Path, list[str]], tmp_path: Path
) -> None:
    shutil.copytree(finished[0], tmp_path / "r")
    (record,) = (tmp_path / "r").rglob("record.json")
    record.unlink()
    shutil.copyfile(next(stopped[0].rglob("checkpoint.pt")), record.with_name("checkpoint.pt"))
    assert_as_undisturbed(run("Good").record, finished[1])
    assert [path.name for path in record.parent.glob("*.pt")] == ["damaged-1-checkpoint.pt"]


def test_what_is_left_beside_a_finished_record_is_removed(
    run: Run, finished: tuple[Path, Record], tmp_path: Path
) -> None:
    shutil.copytree(finished[0], tmp_path / "r")
    (record,) = (tmp_path / "r").rglob("record.json")
    (record.parent / "checkpoint.pt").touch()
    (record.parent / ".record.json.abc.tmp").touch()
    assert run("Good").outcomes == {"already-done": 1}
    assert leftovers(tmp_path / "r") == []
