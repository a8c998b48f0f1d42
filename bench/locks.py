"""Locks of files, which the system frees when their holder ends, and what to do on file systems without them."""

import errno
import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

# Errors of a lock on a file system without locks; the last is the kernel's own ENOTSUPP.
NO_LOCKS = frozenset(
    {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL, errno.ENOTTY, 524}
)

log = logging.getLogger(__name__)


@contextmanager
def locked(
    path: Path, *, at_risk: str, timeout_s: float = -1.0, within: Path | None = None
) -> Iterator[None]:
    """Hold the lock of a file, which is made if need be; on a file system without locks, warn once and go on.

    Parameters
    ----------
    path
        The file; its folder must exist.
    at_risk
        What may happen without locks, for the warning.
    timeout_s
        How long another process is waited for; for ever where it is negative.
    within
        The folder to warn of, once; that of the file by default.

    Raises
    ------
    filelock.Timeout
        Another process holds the lock.
    OSError
        The file cannot be made.
    """
    from filelock import FileLock

    # filelock itself would leave a marker file there, which a killed holder never removes.
    if is_free(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)) is None:
        warn_without_locks(within or path.parent, at_risk)
        yield
        return
    with FileLock(path, timeout=timeout_s):
        yield


def is_free(descriptor: int) -> bool | None:
    """Tell whether no process holds an open file's lock for itself, and close the file; None if there are no locks."""
    try:
        return take(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)


def take(descriptor: int, how: int) -> bool | None:
    """Lock an open file as `fcntl.flock` does; False if another process holds it, None if there are no locks.

    Raises
    ------
    OSError
        A fault that does not mean that the file system has no locks.
    """
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return None
    return True


@cache
def warn_without_locks(folder: Path, at_risk: str) -> None:
    """Warn, once for each folder and risk, that its file system has no locks."""
    log.warning("%s: its file system has no locks, so that %s", folder, at_risk)
