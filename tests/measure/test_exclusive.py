import errno
import fcntl
import logging
import multiprocessing
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

import pytest

from bench.measure.exclusive import BusyError, lock_path, measuring, training

DEADLINE_S = 30.0


def _train(device: str, connection: Connection) -> None:
    with training(device):
        connection.send("holding")
        connection.poll(DEADLINE_S)


@contextmanager
def trained_elsewhere(device: str) -> Iterator[SpawnProcess]:
    """Hold a device as a cell in another process does."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_train, args=(device, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(DEADLINE_S)
        assert ours.recv() == "holding"
        yield process
    finally:
        ours.close()
        process.join(DEADLINE_S)


def test_refuses_while_a_cell_trains() -> None:
    with (
        trained_elsewhere("cpu"),
        pytest.raises(BusyError, match="cells are being trained or measured on cpu"),
        measuring("cpu"),
    ):
        pass


def test_killed_cell_does_not_block() -> None:
    with trained_elsewhere("cpu") as process:
        process.kill()
        process.join(DEADLINE_S)
        with measuring("cpu"):
            assert lock_path("cpu").exists()


def test_two_measurements_exclude_each_other() -> None:
    with measuring("cpu"), pytest.raises(BusyError, match="trained or measured"), measuring("cpu"):
        pass


def test_cells_train_side_by_side() -> None:
    with training("cpu"), training("cpu"):
        assert lock_path("cpu").exists()


def test_other_device_is_free() -> None:
    with training("cuda"), measuring("cpu"):
        assert lock_path("cuda") != lock_path("cpu")


def test_cell_waits_for_a_measurement_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    began = threading.Event()

    def train() -> None:
        with training("cpu"):
            began.set()

    thread = threading.Thread(target=train)
    with caplog.at_level(logging.WARNING), measuring("cpu"):
        thread.start()
        assert not began.wait(0.3)
    thread.join(DEADLINE_S)
    assert began.is_set()
    assert "waiting: 'bench efficiency' or 'bench analyze scaling' is measuring cpu" in caplog.text


@pytest.mark.parametrize("hold", [training, measuring])
def test_file_system_without_locks_is_warned_of(
    hold: Callable[[str], AbstractContextManager[None]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def flock(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with hold("cpu"):
        assert "set BENCH_CACHE to a local folder" in caplog.text
