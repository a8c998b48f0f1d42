"""What this process may use of the machine, within the limits of its container or job."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.errors import BenchError

CGROUP = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def require_unix() -> None:
    """Refuse a platform without the locks and processes that this package is made of.

    Raises
    ------
    BenchError
        This is neither Linux nor macOS.
    """
    if importlib.util.find_spec("fcntl") is None:
        raise BenchError(
            f"medmamba-bench runs on Linux and macOS only, this is {sys.platform}; on Windows use WSL"
        )


def available_cores() -> int:
    """Return how many processors this process may use; where the system does not tell, how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_bytes() -> int:
    """Return the memory that could be allocated now without swapping, within container and job if there are any."""
    import psutil

    return max(0, min([psutil.virtual_memory().available, *_left_in_groups()]))


def _left_in_groups() -> Iterator[int]:
    """Yield what each group of processes with a limit has left, from this process's own to the outermost."""
    for folder in _groups():
        limit, used = folder / "memory.max", folder / "memory.current"
        if limit.exists() and used.exists() and (text := limit.read_text().strip()) != "max":
            yield int(text) - int(used.read_text()) + _reclaimable_bytes(folder / "memory.stat")


def _groups() -> Iterator[Path]:
    """Yield the folders of this process's group (version 2) and of those around it, as far as they can be seen."""
    lines = MEMBERSHIP.read_text().splitlines() if MEMBERSHIP.exists() else []
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    folder = CGROUP / own
    while folder != CGROUP and ".." not in folder.parts:
        yield folder
        folder = folder.parent
    yield CGROUP


def _reclaimable_bytes(statistics: Path) -> int:
    """Return what the system would give up first: pages of files that nobody uses."""
    lines = statistics.read_text().splitlines() if statistics.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
