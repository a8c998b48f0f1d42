"""The lock of a cell, which the system frees when its holder ends, and the removal of a killed holder's files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from bench import locks
from bench.results.store import CellFolder

# Seconds; longer than another process needs to test whether the lock is held.
PATIENCE_S = 0.5
_AT_RISK = "two runs at once may train a cell twice; the first record stays"


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
    with locks.locked(folder.lock, timeout_s=PATIENCE_S, within=folder.path.parents[2], at_risk=_AT_RISK):
        yield


def is_locked(folder: CellFolder) -> bool:
    """Tell whether a process works on the cell; writes nothing."""
    try:
        descriptor = os.open(folder.lock, os.O_RDONLY)
    except FileNotFoundError:
        return False
    return locks.is_free(descriptor) is False


def sweep(folder: CellFolder) -> None:
    """Remove the half-written files of a killed process; the caller must hold the cell's lock."""
    for path in folder.path.glob(".*.tmp"):
        path.unlink(missing_ok=True)
