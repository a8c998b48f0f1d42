"""Memory of a process: a limit before it starts, its peak after a run, and what the machine can give."""

import resource
import sys
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")

# What torch, oneDNN (the last one) and the system say when an allocation fails; on a CPU there is no type for it.
_SIGNS = (
    "can't allocate memory",
    "not enough memory",
    "cannot allocate memory",
    "bad_alloc",
    "out of memory",
    "could not create a primitive",
)


def limit_memory(n_bytes: int) -> None:
    """Let this process allocate at most ``n_bytes`` more than it has; a larger allocation then fails."""
    used = _data_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (used + n_bytes, resource.RLIM_INFINITY))


def _data_bytes() -> int:
    """Return what counts against the limit by now: private memory that can be written (Linux)."""
    status = _status("VmData")
    return 0 if status is None else status


def peak_bytes(device: str) -> int:
    """Return the most that was allocated on a GPU, or the largest resident set of this process since its start."""
    if device == "cuda":
        import torch

        return torch.cuda.max_memory_allocated()
    # getrusage would give a fork its parent's peak.
    peak = _status("VmHWM")
    if peak is not None:
        return peak
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _status(field: str) -> int | None:
    """Return a line of this process's status in bytes; None where the system has no such file."""
    path = Path("/proc/self/status")
    if not path.exists():
        return None
    for line in path.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None


def available_bytes() -> int:
    """Return the memory that could be allocated now without swapping, within this container if there is one."""
    import psutil

    available = psutil.virtual_memory().available
    limit, used = CGROUP / "memory.max", CGROUP / "memory.current"
    if limit.exists() and used.exists() and (text := limit.read_text().strip()) != "max":
        available = min(available, int(text) - int(used.read_text()))
    return max(available, 0)


def is_lack_of_memory(error: BaseException) -> bool:
    """Tell whether an exception says that an allocation failed."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)
