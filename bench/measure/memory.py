"""Memory of a process: a limit before it starts, its peak after a run, and how lack of it is told."""

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

# What torch, oneDNN (the last one) and the system say when an allocation fails; on a CPU there is no type for it.
_SIGNS = (
    "can't allocate memory",
    "not enough memory",
    "cannot allocate memory",
    "bad_alloc",
    "out of memory",
    "could not create a primitive",
)


# Of glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


def limit_memory(n_bytes: int) -> None:
    """Let this process allocate at most ``n_bytes`` more than it has; a larger allocation then fails."""
    used = _data_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (used + n_bytes, resource.RLIM_INFINITY))


def _data_bytes() -> int:
    """Return what counts against the limit by now: private memory that can be written (Linux)."""
    status = _status("VmData")
    return 0 if status is None else status


def keep_freed_memory() -> None:
    """Have this process keep memory that it frees, and use it again; nothing is done where the C library cannot.

    By itself glibc gives blocks above 32 MiB back at once, and the system clears every page again for the next run:
    up to half of the time of a forward pass, and more or less of it by what the process did before.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, -1)


def give_back_memory() -> None:
    """Give what was kept back to the system, where the C library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def peak_bytes(device: str) -> int:
    """Return the most that was allocated on a GPU, or this process's largest resident set, since `reset_peak`."""
    if device == "cuda":
        import torch

        return torch.cuda.max_memory_allocated()
    # getrusage would give a fork its parent's peak.
    peak = _status("VmHWM")
    if peak is not None:
        return peak
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def reset_peak(device: str) -> None:
    """Let the peak begin anew at what is held now; where the system cannot, it goes on from the start."""
    if device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()
        return
    with suppress(OSError):  # Linux only, and not in every container
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _status(field: str) -> int | None:
    """Return a line of this process's status in bytes; None where the system has no such file."""
    path = Path("/proc/self/status")
    if not path.exists():
        return None
    for line in path.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None


def is_lack_of_memory(error: BaseException) -> bool:
    """Tell whether an exception says that an allocation failed."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)
