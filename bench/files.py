"""Files of our own: where the cache is, writes that are whole or absent, hashes to check them by."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.errors import BenchError


def cache_root() -> Path:
    """Return BENCH_CACHE, or this package's folder in the user's cache."""
    import platformdirs

    given = os.environ.get("BENCH_CACHE")
    return Path(given).expanduser() if given else platformdirs.user_cache_path("medmamba-bench")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; flush it to disk and rename it when the block ends well.

    Raises
    ------
    BenchError
        The folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    except OSError as error:
        raise BenchError(
            f"cannot write to {path.parent}: {error.strerror}; choose a folder that can be written"
        ) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
