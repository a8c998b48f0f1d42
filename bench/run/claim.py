"""Who works on a cell: a lock that the system frees when its holder ends, and what a killed holder left behind."""

import fcntl
import os

from filelock import BaseFileLock, FileLock

from bench.results.store import CellFolder

# Longer than another process needs to look whether the lock is held.
PATIENCE_S = 0.5


def claim(folder: CellFolder) -> BaseFileLock:
    """Return a cell's lock, to be entered.

    Entering raises `filelock.Timeout` when another process holds the cell.
    """
    folder.path.mkdir(parents=True, exist_ok=True)
    return FileLock(folder.lock, timeout=PATIENCE_S)


def is_held(folder: CellFolder) -> bool:
    """Tell whether a process works on the cell; writes nothing."""
    try:
        descriptor = os.open(folder.lock, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def sweep(folder: CellFolder) -> None:
    """Remove the half-written files of a killed process; only for who holds the cell."""
    for path in folder.path.glob(".*.tmp"):
        path.unlink(missing_ok=True)
