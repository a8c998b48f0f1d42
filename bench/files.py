"""Files of our own: where the cache is, writes that are whole or absent, hashes to check them by."""

import errno
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.errors import BenchError

ABANDONED_S = 3600.0
"""No process that is alive leaves a temporary file of its own alone for so long."""
NAME_RULE = (
    "letters, digits, '_', '.', '+', '-' and blanks, at most 100 of them, the first a letter, a digit or '_'"
)
"""What `is_plain_name` accepts, in words."""

_PLAIN_NAME = re.compile(r"\w(?:[\w.+ -]{0,98}[\w.+-])?")


def is_plain_name(text: str) -> bool:
    """Tell whether a name may become part of a path, an identifier or a page: one rule for every name in a record."""
    return _PLAIN_NAME.fullmatch(text) is not None


_DISK_FAULTS = "EIO ENOSPC EDQUOT EFBIG EROFS ESTALE EREMOTEIO ETIMEDOUT ENOTCONN ESHUTDOWN ENODEV ENXIO"
DISK_FAULTS = frozenset(getattr(errno, name) for name in _DISK_FAULTS.split() if hasattr(errno, name))
"""Errors of a disk or a mount: full, read-only, broken or gone; no mistake of whoever writes to it."""


def cache_root() -> Path:
    """Return BENCH_CACHE, or this package's folder in the user's cache.

    Raises
    ------
    BenchError
        BENCH_CACHE names a home that there is not.
    """
    import platformdirs

    given = os.environ.get("BENCH_CACHE")
    try:
        return Path(given).expanduser() if given else platformdirs.user_cache_path("medmamba-bench")
    except RuntimeError as error:
        raise BenchError(f"BENCH_CACHE={given}: no such home; set it to the path of a folder") from error


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def free_name(folder: Path, pattern: str) -> Path:
    """Return the first path that is free in a folder, of names with ``{}`` for a number from 1."""
    number = 1
    while (path := folder / pattern.format(number)).exists():
        number += 1
    return path


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; flush it to disk and rename it when the block ends well.

    The name is unlike that of any other process on any machine; permissions are those of a new file of the user.

    Raises
    ------
    BenchError
        The folder cannot be written, or the disk is full or fails meanwhile.
    """
    temporary = _temporary(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise unwritable(path.parent, error) from error
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if is_disk_fault(error):
            raise unwritable(path.parent, error) from error
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path``; it gets that name when the block ends well and vanishes otherwise.

    ``path`` must not exist and its parent must.

    Raises
    ------
    BenchError
        The parent cannot be written, or the disk is full or fails meanwhile.
    """
    temporary = _temporary(path)
    try:
        temporary.mkdir()
    except OSError as error:
        raise unwritable(path.parent, error) from error
    try:
        yield temporary
        temporary.rename(path)
    except OSError as error:
        if is_disk_fault(error):
            raise unwritable(path.parent, error) from error
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_abandoned(folder: Path, pattern: str = ".*.tmp") -> None:
    """Remove files that a killed process left half-written; one that lives would have renewed or renamed them."""
    for path in folder.glob(pattern):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > ABANDONED_S:
                path.unlink()


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def is_disk_fault(error: BaseException | None) -> bool:
    """Tell whether an exception, or one that it was raised from, is a fault of a disk or a mount."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in DISK_FAULTS:
            return True
        error = error.__cause__
    return False


def unwritable(folder: Path, error: OSError) -> BenchError:
    """Return the error for a folder that cannot be written."""
    remedy = "make room there or choose" if error.errno in DISK_FAULTS else "choose"
    return BenchError(f"cannot write to {folder}: {error.strerror}; {remedy} a folder that can be written")


def refused(error: OSError) -> BenchError | None:
    """Return the error for a file or disk that the system refuses, None for any other fault."""
    if error.errno not in DISK_FAULTS | {errno.EACCES, errno.EPERM}:
        return None
    where = error.filename2 or error.filename or "a file could not be read or written"
    return BenchError(
        f"{where}: {error.strerror}; make room, or get permission to read and write there, and run again"
    )
