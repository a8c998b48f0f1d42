"""The parent process: interrupted or killed, it leaves no orphan, no half file, and nothing finished is lost."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.fixtures.waiting import DEADLINE_S, is_running, wait_for
from tests.run.conftest import OWN


def start(data: Path, out: Path, *models: str, jobs: int = 2, sleep_s: float = 60) -> subprocess.Popen[str]:
    arguments = [
        *(
            "run",
            "--models",
            ",".join(models),
            "--datasets",
            "uci-har",
            "--data",
            str(data),
            "--out",
            str(out),
        ),
        *(
            "--seeds",
            "41",
            "--set",
            "epochs=2",
            "--set",
            "batch_size=32",
            "--jobs",
            str(jobs),
            "--device",
            "cpu",
        ),
        *("--set", f"sleep_s={sleep_s}"),
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "bench", *arguments],
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def interrupted(data: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A run with one finished cell and one that sleeps beside a process that it has forked."""
    out = tmp_path / "r"
    parent = start(data, out, f"{OWN}:Good", f"{OWN}:Sleeps")
    wait_for(lambda: list(out.rglob("record.json")), "the first record")
    wait_for(lambda: [log for log in out.rglob("log.txt") if "asleep" in log.read_text()], "the second cell")
    yield parent, out
    parent.kill()
    parent.communicate()


def to_parent(parent: int, sent: signal.Signals) -> None:
    os.kill(parent, sent)


def to_everyone(parent: int, sent: signal.Signals) -> None:
    """Send as a terminal does: to the whole group, the fork server and its workers included."""
    os.killpg(parent, sent)


@pytest.mark.parametrize(
    ("send", "sent", "code"),
    [
        (to_everyone, signal.SIGINT, 130),
        (to_parent, signal.SIGINT, 130),
        (to_parent, signal.SIGTERM, 130),
        (to_parent, signal.SIGKILL, -9),
    ],
    ids=["Ctrl-C", "SIGINT", "SIGTERM", "SIGKILL"],
)
def test_no_orphans_no_temporary_files_nothing_lost(
    interrupted: tuple[subprocess.Popen[str], Path],
    data: Path,
    send: Callable[[int, signal.Signals], None],
    sent: signal.Signals,
    code: int,
) -> None:
    parent, out = interrupted
    family = psutil.Process(parent.pid).children(recursive=True)
    assert len(family) >= 3  # the fork server, a worker, and what it forked
    send(parent.pid, sent)
    assert parent.wait(DEADLINE_S) == code
    wait_for(lambda: not [p for p in family if is_running(p.pid)], "the workers and what they forked")
    records = [json.loads(path.read_text()) for path in out.rglob("record.json")]
    assert [record["outcome"] for record in records] == ["ok"]
    assert not list(out.rglob("*.tmp"))


def test_the_same_command_after_a_kill_completes_the_grid(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    models = [f"{OWN}:Good", f"{OWN}:Sleeps"]
    first = start(data, out, *models, sleep_s=1.0)
    wait_for(lambda: list(out.rglob("record.json")), "the first record")
    first.kill()
    first.communicate()
    again = start(data, out, *models, sleep_s=1.0)
    again.communicate(timeout=DEADLINE_S)
    assert again.returncode == 0
    records = [json.loads(path.read_text()) for path in out.rglob("record.json")]
    assert [record["outcome"] for record in records] == ["ok", "ok"]
    assert not [path.name for path in out.rglob("*") if path.suffix in (".tmp", ".pt")]


def test_workers_are_replaced_when_the_fork_server_dies(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    parent = start(data, out, f"{OWN}:Sleeps", jobs=1, sleep_s=3.0)
    wait_for(lambda: list(out.rglob("checkpoint.pt")), "an epoch")
    family = psutil.Process(parent.pid).children(recursive=True)
    (server,) = [p for p in family if p.ppid() == parent.pid and "forkserver" in " ".join(p.cmdline())]
    server.kill()
    _, said = parent.communicate(timeout=DEADLINE_S)
    assert parent.returncode == 0, said
    (record,) = [json.loads(path.read_text()) for path in out.rglob("record.json")]
    assert record["outcome"] == "ok"
    log = next(out.rglob("log.txt")).read_text()
    assert "going on after epoch 1" in log
    assert "BrokenPipe" not in log
    wait_for(lambda: not [p for p in family if is_running(p.pid)], "the first worker and what it forked")


def test_two_parents_train_each_cell_once(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    parents = [start(data, out, f"{OWN}:Good", f"{OWN}:Sleeps", jobs=1, sleep_s=0.3) for _ in range(2)]
    ends = [parent.communicate(timeout=DEADLINE_S)[1] for parent in parents]
    assert [parent.returncode for parent in parents] == [0, 0], ends
    trained = sum(int(end.rpartition("cells: ")[2].split()[0]) for end in ends)
    assert trained == 2, ends
    assert len(list(out.rglob("record.json"))) == 2
