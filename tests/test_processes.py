"""Pools of processes: what they do is done, Ctrl-C is the parent's, and none is left when the parent is killed."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from bench.processes import process_pool

LONGEST_S = 30.0


def test_pool_answers_and_is_gone_after_its_block() -> None:
    with process_pool(2) as pool:
        numbers = set(pool.map(_own_number, range(8)))
    assert os.getpid() not in numbers
    assert 1 <= len(numbers) <= 2
    assert not any(map(psutil.pid_exists, numbers))


def test_error_of_a_process_is_raised_here() -> None:
    with process_pool(1) as pool, pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result()


def test_ctrl_c_does_not_end_what_is_under_way() -> None:
    with process_pool(1) as pool:
        number = pool.submit(_own_number, 0).result()
        os.kill(number, signal.SIGINT)
        assert pool.submit(_own_number, 0).result() == number


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_pool_dies_with_its_parent() -> None:
    code = (
        "import time\n"
        "from bench.processes import process_pool\n"
        "from tests.test_processes import _own_number\n"
        "if __name__ == '__main__':\n"
        "    with process_pool(1) as pool:\n"
        "        print(pool.submit(_own_number, 0).result(), flush=True)\n"
        "        pool.submit(time.sleep, 600).result()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        number = int(parent.stdout.readline())
        assert psutil.pid_exists(number)
        parent.kill()
    late = time.monotonic() + LONGEST_S
    while psutil.pid_exists(number) and time.monotonic() < late:
        time.sleep(0.05)
    assert not psutil.pid_exists(number)


def _own_number(_: int) -> int:
    return os.getpid()
