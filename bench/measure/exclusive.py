"""Never measure while cells train: a lock of this user and machine, shared by trainings, exclusive to a measurement.

The lock is on an open file, so that the system releases it when a process ends, however it ends.
"""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.errors import BenchError
from bench.files import cache_root


class BusyError(BenchError):
    """Something else uses the device that is to be measured."""

    exit_code = 1


def lock_path(device: str) -> Path:
    """Return the lock file of a device, ``cpu`` or ``cuda``, of this machine."""
    return cache_root() / "locks" / f"{socket.gethostname()}-{device}.lock"


@contextmanager
def training(device: str) -> Iterator[None]:
    """Hold the device for a cell, beside others; wait for a measurement to end first."""
    with _opened(device) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


@contextmanager
def measuring(device: str) -> Iterator[None]:
    """Hold the device for a measurement.

    Raises
    ------
    BusyError
        Cells are being trained on it, or another measurement runs.
    """
    with _opened(device) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(
                f"cells are being trained or measured on {device} of this machine (lock {lock_path(device)}): "
                "times taken now would mean nothing; wait for them to end and try again"
            ) from error
        yield


@contextmanager
def _opened(device: str) -> Iterator[int]:
    path = lock_path(device)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise BenchError(
            f"{path}: cannot be opened ({error.strerror}); set BENCH_CACHE to another folder"
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
