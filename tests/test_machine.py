"""What this process may use of the machine."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from bench import machine


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 9000 bytes left, and this process's group two levels down; return the group's folder."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=9000))
    monkeypatch.setattr(machine, "CGROUP", tmp_path / "groups")
    monkeypatch.setattr(machine, "MEMBERSHIP", tmp_path / "membership")
    (tmp_path / "membership").write_text("1:name=systemd:/elsewhere\n0::/jobs/job7\n")
    folder = tmp_path / "groups" / "jobs" / "job7"
    folder.mkdir(parents=True)
    return folder


def limit(folder: Path, limit: str, used: int, inactive_file: int = 0) -> None:
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {inactive_file}\n")


def test_without_limits_it_is_what_the_machine_has_left(job: Path) -> None:
    limit(job, "max", 100)
    assert machine.available_bytes() == 9000


def test_limit_of_the_job_counts(job: Path) -> None:
    limit(job, "5000", 2000)
    assert machine.available_bytes() == 3000


def test_limit_around_the_job_counts(job: Path) -> None:
    limit(job, "5000", 2000)
    limit(job.parent, "2500", 2000)
    assert machine.available_bytes() == 500


def test_pages_of_files_that_nobody_uses_are_not_in_the_way(job: Path) -> None:
    limit(job, "5000", 4900, inactive_file=1000)
    assert machine.available_bytes() == 1100


def test_spent_limit_leaves_nothing(job: Path) -> None:
    limit(job, "1000", 1200)
    assert machine.available_bytes() == 0
