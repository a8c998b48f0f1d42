"""The parent process: interrupted or killed, it leaves no orphan, no half file, and nothing finished is lost."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.fixtures.waiting import DEADLINE_S, is_running, wait_for
from tests.run.conftest import OWN, run_own

SETS = ("epochs=2", "batch_size=32")
STACK = "(most recent call first)"


def answering_to_ctrl_c() -> None:
    """Undo what a shell does to what it runs in the background, these tests among it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(
    data: Path, out: Path, *models: str, jobs: int = 2, sets: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    """Start a run in a process of its own, without the report that follows its cells."""
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
        *("--seeds", "41", "--jobs", str(jobs), "--device", "cpu", "--recipe", "medmamba", "--shard", "1/1"),
        *(word for assignment in (*SETS, *sets) for word in ("--set", assignment)),
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "bench", *arguments],
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=answering_to_ctrl_c,
    )


def outcomes(out: Path) -> list[str]:
    return [json.loads(path.read_text())["outcome"] for path in out.rglob("record.json")]


def asleep(out: Path) -> bool:
    return any("asleep" in log.read_text() for log in out.rglob("log.txt"))


@pytest.fixture
def interrupted(data: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A run with one finished cell and one that sleeps beside a process that it has forked."""
    out = tmp_path / "r"
    parent = start(data, out, f"{OWN}:Good", f"{OWN}:Sleeps", sets=(f"morning='{tmp_path / 'morning'}'",))
    wait_for(lambda: list(out.rglob("record.json")), "the first record")
    wait_for(lambda: asleep(out), "the second cell")
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
        (to_parent, signal.SIGTERM, 130),
        (to_parent, signal.SIGKILL, -9),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGKILL"],
)
def test_no_orphans_no_temporary_files_nothing_lost_and_the_same_command_completes_the_grid(
    interrupted: tuple[subprocess.Popen[str], Path],
    data: Path,
    tmp_path: Path,
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
    assert outcomes(out) == ["ok"]
    assert parent.stderr is not None
    told = parent.stderr.read()
    assert "Traceback" not in told
    assert told.count("interrupted: ") == (code == 130)
    assert not list(out.rglob("*.tmp"))
    # Where a cell was says nothing of it when it was only interrupted, but much of this machine's folders.
    assert [log.parent.name for log in out.rglob("log.txt") if STACK in log.read_text()] == []

    (log,) = [log for log in out.rglob("log.txt") if "asleep" in log.read_text()]
    with log.open("a") as earlier:  # as a version before this one has left it
        earlier.write(f'Current thread 0x00007f33 {STACK}:\n  File "model.py", line 1 in forward\n')
    morning = tmp_path / "morning"
    morning.touch()
    again = run_own(data, out, "Good", "Sleeps", sets=(*SETS, f"morning='{morning}'"))
    assert again.outcomes == {"already-done": 1, "ok": 1}
    assert STACK not in log.read_text()
    assert not [path.name for path in out.rglob("*") if path.suffix in (".tmp", ".pt")]


def test_workers_are_replaced_when_the_fork_server_dies(data: Path, tmp_path: Path) -> None:
    out, morning = tmp_path / "r", tmp_path / "morning"
    sets = ("steps_awake=1", f"morning='{morning}'")  # an epoch is one step
    parent = start(data, out, f"{OWN}:Sleeps", jobs=1, sets=sets)
    wait_for(lambda: asleep(out), "the second epoch")
    family = psutil.Process(parent.pid).children(recursive=True)
    (server,) = [p for p in family if p.ppid() == parent.pid and "forkserver" in " ".join(p.cmdline())]
    server.kill()
    wait_for(lambda: not [p for p in family if is_running(p.pid)], "the first worker and what it forked")
    morning.touch()
    _, said = parent.communicate(timeout=DEADLINE_S)
    assert parent.returncode == 0, said
    assert outcomes(out) == ["ok"]
    log = next(out.rglob("log.txt")).read_text()
    assert "going on after epoch 1" in log
    assert "BrokenPipe" not in log


def test_two_parents_train_each_cell_once(data: Path, tmp_path: Path) -> None:
    """A process, and this one, which begins while the other's second cell sleeps."""
    out, morning = tmp_path / "r", tmp_path / "morning"
    sets = (f"morning='{morning}'",)
    other = start(data, out, f"{OWN}:Good", f"{OWN}:Sleeps", jobs=1, sets=sets)
    wait_for(lambda: asleep(out), "the other's second cell")
    alarm = threading.Timer(1.0, morning.touch)
    alarm.start()
    ours = run_own(data, out, "Good", "Sleeps", sets=(*SETS, *sets))
    alarm.join()
    _, said = other.communicate(timeout=DEADLINE_S)
    assert other.returncode == 0, said
    assert "2 trained, 0 already done" in said
    assert ours.outcomes == {"already-done": 2}
    assert len(ours.records) == 2
