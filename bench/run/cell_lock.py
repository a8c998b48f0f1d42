"""The lock of a cell, which the system frees when its holder ends, and the removal of a killed holder's files."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from filelock import FileLock

from bench.measure.exclusive import NO_LOCKS
from bench.results.store import CellFolder

# Seconds; longer than another process needs to test whether the lock is held.
PATIENCE_S = 0.5

log = logging.getLogger(__name__)


@contextmanager
def locked(folder: CellFolder) -> Iterator[None]:
    """Hold a cell's lock, so that no other process trains it.

    On a file system without locks, two runs may train a cell twice, which
    `bench.run.ended` settles.

    Raises
    ------
    filelock.Timeout
        Another process holds the cell.
    """
    folder.path.mkdir(parents=True, exist_ok=True)
    # filelock itself would leave a marker file there, which a killed holder never removes.
    if not _has_locks(folder.lock):
        _warn(folder.path.parents[2])
        yield
        return
    with FileLock(folder.lock, timeout=PATIENCE_S):
        yield


def is_locked(folder: CellFolder) -> bool:
    """Tell whether a process works on the cell; writes nothing."""
    try:
        descriptor = os.open(folder.lock, os.O_RDONLY)
    except FileNotFoundError:
        return False
    return _is_free(descriptor) is False


def sweep(folder: CellFolder) -> None:
    """Remove the half-written files of a killed process; the caller must hold the cell's lock."""
    for path in folder.path.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def _has_locks(path: Path) -> bool:
    return _is_free(os.open(path, os.O_RDWR | os.O_CREAT, 0o644)) is not None


def _is_free(descriptor: int) -> bool | None:
    """Tell whether no process holds an exclusive lock on a file, and close it; None if there are no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return None
    finally:
        os.close(descriptor)
    return True


@cache
def _warn(out: Path) -> None:
    """Warn once for each results folder on a file system without locks."""
    log.warning(
        "%s: its file system has no locks, so that two runs at once may train a cell twice; the first record stays",
        out,
    )
