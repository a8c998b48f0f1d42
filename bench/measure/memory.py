"""Memory of a process: a limit before it starts, its peak after a run, and the errors for lack of it."""

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

# Messages of torch, oneDNN (the last one) and the system when an allocation fails; the CPU has no error type for it.
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
    """Return the bytes that count against the limit by now: private writable memory (Linux)."""
    status = _status("VmData")
    return 0 if status is None else status


def keep_freed_memory() -> None:
    """Make this process keep and reuse memory that it frees; does nothing if the C library cannot.

    By itself glibc gives blocks above 32 MiB back at once, and the system clears every page again for the next run:
    up to half of the time of a forward pass, varying with the history of the process.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, -1)


def give_back_memory() -> None:
    """Return kept memory to the system, if the C library can."""
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
    """Reset the peak to the memory held now; if the system cannot, the peak continues since the start."""
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
