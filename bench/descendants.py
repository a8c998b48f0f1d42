"""What a process has started, also what has left its group and session, and the end of it."""

import ctypes
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

MOST_PROCESSES = 200
"""More than this at once below one cell are a mistake in a user's code, which would take the machine down."""

_PR_SET_CHILD_SUBREAPER = 36
# Processes that start others while they are ended are caught in the next round.
_ROUNDS = 20


def adopt_orphans() -> None:
    """Become the parent of what this process's descendants leave behind, so that it is found; on Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> "list[psutil.Process]":
    """Return all living processes below a process."""
    import psutil

    try:
        found = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [process for process in found if _lives(process)]


def end_descendants(pid: int) -> None:
    """Kill all processes below a process, also those that they start meanwhile."""
    for _ in range(_ROUNDS):
        found = descendants(pid)
        if not found:
            return
        kill(found)


def end_strays(pid: int) -> None:
    """Kill what a process has adopted and is in another session than its own, with all below it."""
    import psutil

    for process in descendants(pid):
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if process.ppid() == pid and os.getsid(process.pid) != os.getsid(pid):
                end_descendants(process.pid)
                kill([process])


def kill(processes: "Iterable[psutil.Process]") -> None:
    """Kill processes, all of them halted first, so that none makes more; those that are gone are passed over."""
    import psutil

    chosen = list(processes)
    for act in (psutil.Process.suspend, psutil.Process.kill):
        for process in chosen:
            with suppress(psutil.Error):
                act(process)


def _lives(process: "psutil.Process") -> bool:
    import psutil

    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
