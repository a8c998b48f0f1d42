"""Processes that work for this one: heard, asked to end, and none left, nor what they forked, when it is killed."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import pytest

from bench import processes
from bench.errors import BenchError
from bench.processes import COMPUTING, DRAWING, Child, stop, wait_for_news
from tests.fixtures.waiting import is_running, wait_for

LONGEST_S = 60.0


def test_every_preload_is_there() -> None:
    """The fork server passes over a name that it cannot import."""
    assert [name for name in (*COMPUTING, *DRAWING) if find_spec(name) is None] == []


def test_child_is_talked_with_and_says_how_it_ended() -> None:
    child = Child(_divide, 12)
    answers = []
    for divisor in (3, 0):
        child.connection.send(divisor)
        while not (found := list(child.received())) and child.process.is_alive():
            assert wait_for_news([child], LONGEST_S)
        answers += found
    child.process.join(LONGEST_S)
    assert (answers, child.death) == ([4.0], "exit code 1")
    child.end()


def test_nothing_is_heard_of_a_child_that_has_nothing_to_say() -> None:
    child = Child(_sleep)
    assert not wait_for_news([child], 0.1)
    child.end()
    assert (child.death, is_running(child.pid)) == ("SIGKILL", False)


@pytest.mark.parametrize(("handler", "death"), [("SIG_DFL", "SIGTERM"), ("SIG_IGN", "SIGKILL")])
def test_child_is_asked_to_end_before_it_is_killed(
    monkeypatch: pytest.MonkeyPatch, handler: str, death: str
) -> None:
    monkeypatch.setattr(processes, "GRACE_S", 2.0)
    child = Child(_fork_and_sleep, handler)
    wait_for_news([child])
    (forked,) = child.received()
    stop([child])
    assert child.death == death
    wait_for(lambda: not is_running(forked), "processes")


@contextmanager
def parent_of(body: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start another parent; give it and the numbers of processes that it prints."""
    code = (
        "import time\n"
        "from bench.process_pool import process_pool\n"
        "from bench.processes import COMPUTING, DRAWING, Child, fork_server, wait_for_news\n"
        "from tests.test_processes import _fork_and_sleep, _own_number\n"
        "if __name__ == '__main__':\n"
        "    fork_server(['tests.test_processes'])\n"
    )
    with subprocess.Popen([sys.executable, "-c", code + body], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        try:
            yield parent, [int(number) for number in parent.stdout.readline().split()]
        finally:
            parent.kill()


POOL = """
    with process_pool(1) as pool:
        print(pool.submit(_own_number).result(), flush=True)
        pool.submit(time.sleep, 600).result()
"""
CHILD = """
    child = Child(_fork_and_sleep, 'SIG_DFL')
    wait_for_news([child])
    print(child.pid, *child.received(), flush=True)
    wait_for_news([child])
"""


@pytest.mark.parametrize(("body", "n_processes"), [(POOL, 1), (CHILD, 2)], ids=["pool", "child"])
def test_all_die_with_their_parent(body: str, n_processes: int) -> None:
    with parent_of(body) as (_, numbers):
        assert [is_running(number) for number in numbers] == [True] * n_processes
    wait_for(lambda: not any(map(is_running, numbers)), "processes to end")


def test_ctrl_z_pauses_children_and_what_they_started() -> None:
    with parent_of(CHILD) as (parent, numbers):

        def paused() -> list[bool]:
            everyone = [parent.pid, *numbers]
            return [psutil.Process(number).status() == psutil.STATUS_STOPPED for number in everyone]

        parent.send_signal(signal.SIGTSTP)
        wait_for(lambda: all(paused()), "all to pause")
        parent.send_signal(signal.SIGCONT)
        wait_for(lambda: not any(paused()), "all to go on")


def _own_number() -> int:
    return os.getpid()


def _divide(number: int, connection: Connection) -> None:
    while True:
        connection.send(number / connection.recv())


def _sleep(_connection: Connection) -> None:
    time.sleep(600)


def _fork_and_sleep(handler: str, connection: Connection) -> None:
    signal.signal(signal.SIGTERM, getattr(signal, handler))
    if forked := os.fork():
        connection.send(forked)
    time.sleep(600)


def _leave(connection: Connection) -> None:
    """Leave a process in a session of its own, and a thread that never ends."""
    code = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(600)"
    program = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {code!r}])"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as left:
        assert left.stdout is not None
        connection.send(int(left.stdout.readline()))
    threading.Thread(target=time.sleep, args=(600,)).start()


def test_what_left_the_session_ends_with_its_child_and_threads_are_not_waited_for() -> None:
    child = Child(_leave)
    child.process.join(LONGEST_S)
    (left,) = child.received()
    child.end()
    assert child.death == "exit code 0"
    assert not is_running(left)


def _crash(connection: Connection) -> None:
    code = "import os, time; os.setsid(); time.sleep(600)"
    connection.send(subprocess.Popen([sys.executable, "-c", code]).pid)
    connection.recv()
    os.kill(os.getpid(), signal.SIGKILL)


def _crash_at_once(connection: Connection) -> None:
    connection.send(subprocess.Popen(["sleep", "600"], start_new_session=True).pid)
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has adoption")
def test_what_a_child_started_before_it_crashed_at_once_ends_with_it() -> None:
    child = Child(_crash_at_once)
    child.process.join(LONGEST_S)
    (left,) = child.received()
    assert is_running(left)
    child.end()
    wait_for(lambda: not is_running(left), "a process that nobody has counted")


def test_what_was_counted_ends_with_a_child_that_crashed() -> None:
    child = Child(_crash)
    wait_for_news([child])
    (left,) = child.received()
    assert child.count_started() == 1
    child.connection.send(None)
    child.process.join(LONGEST_S)
    child.end()
    wait_for(lambda: not is_running(left), "a process of its own session")


SCRIPT = """
from bench.process_pool import process_pool

def use():
    with process_pool(2) as pool:
        print(pool.submit(divmod, 7, 2).result())

"""


@pytest.mark.parametrize(
    ("end", "printed", "said"),
    [
        ("use()\n", "", "below a line 'if __name__ == \"__main__\":'"),
        ("if __name__ == '__main__':\n    use()\n", "(3, 1)\n", ""),
    ],
)
def test_a_script_without_a_main_guard_is_refused_in_words(
    tmp_path: Path, end: str, printed: str, said: str
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT + end)
    done = run_here(str(tmp_path / "script.py"))
    assert done.stdout == printed
    assert said in done.stderr
    assert (done.returncode == 0) is bool(printed)


@pytest.mark.parametrize("length", [80, 200])
def test_a_long_tmpdir_is_no_hindrance(tmp_path: Path, length: int) -> None:
    folder = tmp_path / ("x" * length)
    folder.mkdir()
    (tmp_path / "script.py").write_text(SCRIPT + "if __name__ == '__main__':\n    use()\n")
    done = run_here(str(tmp_path / "script.py"), TMPDIR=str(folder), MPLBACKEND="of a notebook")
    assert (done.stdout, done.stderr) == ("(3, 1)\n", "")


def test_no_folder_for_temporary_files_is_one_line_that_names_tmpdir(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", refuse)
    with pytest.raises(BenchError, match=r"TMPDIR=.*no folder for temporary files can be used"):
        processes.fork_server()


def run_here(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python with this package on its path."""
    there = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment}
    return subprocess.run(
        [sys.executable, *arguments],
        env=there,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )
