"""Never measure while cells train: a lock of this user and machine, shared by trainings, exclusive to a measurement.

The lock is on an open file, so that the system releases it when a process ends, however it ends.
"""

import errno
import fcntl
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.errors import BenchError
from bench.files import cache_root

# Errors of flock on a file system without locks; the last is the kernel's own ENOTSUPP.
NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, 524}

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
                "times taken now would mean nothing; wait for them to end and try again"
            )
        yield


def _locked(descriptor: int, how: int, device: str) -> bool:
    """Lock an open file; tell whether that was possible. Where there are no locks, nothing stands in the way."""
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        log.warning(
            "%s: no locks on this file system (%s), so that training and measuring on %s may overlap; "
            "set BENCH_CACHE to a local folder",
            lock_path(device), error.strerror, device,
        )  # fmt: skip
    return True


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
