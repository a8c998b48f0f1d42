"""Never measure while cells train: a lock of this user and machine, shared by trainings, exclusive to a measurement.

The lock is on an open file, so that the system releases it when a process ends, however it ends.
"""

import fcntl
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import locks
from bench.errors import BenchError
from bench.files import cache_root

log = logging.getLogger(__name__)


class BusyError(BenchError):
    """Something else uses the device that is to be measured."""

    exit_code = 1


def lock_path(device: str) -> Path:
    """Return the lock file of a device, ``cpu`` or ``cuda``, of this machine."""
    return cache_root() / "locks" / f"{socket.gethostname()}-{device}.lock"


@contextmanager
def training(device: str) -> Iterator[None]:
    """Hold the device's lock for a cell, shared with other cells; first wait for a measurement to end."""
    with _opened(device) as descriptor:
        if not _locked(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, device):
            log.warning("waiting: 'bench efficiency' or 'bench analyze scaling' is measuring %s", device)
            _locked(descriptor, fcntl.LOCK_SH, device)
        yield


@contextmanager
def measuring(device: str) -> Iterator[None]:
    """Hold the device's exclusive lock for a measurement.

    Raises
    ------
    BusyError
        Cells are being trained on it, or another measurement runs.
    """
    with _opened(device) as descriptor:
        if not _locked(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, device):
            raise BusyError(
                f"cells are being trained or measured on {device} of this machine (lock {lock_path(device)}): "
                "times measured now would be meaningless; wait for them to end and try again"
            )
        yield


def _locked(descriptor: int, how: int, device: str) -> bool:
    """Lock an open file; tell whether that was possible. Where there are no locks, nothing stands in the way."""
    taken = locks.take(descriptor, how)
    if taken is None:
        locks.warn_without_locks(
            lock_path(device).parent,
            f"training and measuring on {device} may overlap; set BENCH_CACHE to a local folder",
        )
    return taken is not False


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
