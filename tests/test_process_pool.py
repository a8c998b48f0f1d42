"""Calls in several processes: answers, errors, an end within an answer, and none left when the block is left."""

import os
import signal
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection

import pytest

from bench.process_pool import process_pool
from tests.fixtures.waiting import is_running, wait_for

LONGEST_S = 60.0


def test_pool_answers_and_is_gone_after_its_block() -> None:
    with process_pool(2) as pool:
        numbers = {call.result() for call in [pool.submit(os.getpid) for _ in range(8)]}
    assert os.getpid() not in numbers
    assert 1 <= len(numbers) <= 2
    assert not any(map(is_running, numbers))


def test_error_of_a_process_is_raised_here_with_its_lines() -> None:
    with process_pool(1) as pool:
        with pytest.raises(ZeroDivisionError) as raised:
            pool.submit(divmod, 1, 0).result(LONGEST_S)
        assert "return work(*given)" in raised.value.__notes__[0]
        assert pool.submit(divmod, 7, 2).result(LONGEST_S) == (3, 1)


def test_an_answer_that_cannot_be_sent_is_an_error_with_its_reason() -> None:
    with process_pool(1) as pool:
        with pytest.raises(TypeError, match="an answer that cannot be sent: cannot pickle"):
            pool.submit(threading.Lock).result(LONGEST_S)
        assert pool.submit(divmod, 7, 2).result(LONGEST_S) == (3, 1)


def test_ctrl_c_does_not_end_what_is_under_way() -> None:
    with process_pool(1) as pool:
        number = pool.submit(os.getpid).result(LONGEST_S)
        os.kill(number, signal.SIGINT)
        assert pool.submit(os.getpid).result(LONGEST_S) == number


def test_ctrl_c_here_ends_calls_at_once() -> None:
    def interrupt() -> None:
        with process_pool(1) as pool:
            numbers.append(pool.submit(os.getpid).result(LONGEST_S))
            pool.submit(time.sleep, 600)
            raise KeyboardInterrupt

    numbers: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    wait_for(lambda: not is_running(numbers[0]), "the process to end")


@pytest.mark.parametrize("forks", [False, True], ids=["alone", "forked"])
def test_process_killed_within_a_large_answer_is_not_waited_for(forks: bool) -> None:
    with process_pool(2) as pool:
        lost, other = pool.submit(_die_within_answer, forks), pool.submit(divmod, 7, 2)
        with pytest.raises(BrokenProcessPool):
            lost.result(LONGEST_S)
        assert other.result(LONGEST_S) == (3, 1)


def _die_within_answer(forks: bool) -> bytes:
    """Have this process killed when half of its answer is sent; a process that it has forked lives on."""

    def send(connection: Connection, message: bytes) -> None:
        n_sent = len(message) // 2 if len(message) > 1_000_000 else len(message)
        os.write(connection.fileno(), message[:n_sent])
        if n_sent < len(message):
            os.kill(os.getpid(), signal.SIGKILL)

    if forks and not os.fork():
        time.sleep(600)
    Connection._send = send  # pyright: ignore[reportAttributeAccessIssue]
    return bytes(4_000_000)
