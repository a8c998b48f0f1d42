import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
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
