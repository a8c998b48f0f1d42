"""Opening a dataset's files: regular ones in its folder, of a size they can have, or one line that says why not."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from bench.datasets.contract import DamagedRecord, as_one_line
from bench.errors import DataError

# A pointer names the object in at most a few hundred bytes; no file that we read is as small.
_ANNEX_POINTER_MAX_BYTES = 1000
# No table, header or text that we read is as large.
MOST_TEXT_BYTES = 2**26
_REASONS = {
    errno.ENOENT: "no such file; get it from the publisher",
    errno.ENOTDIR: "no such file; get it from the publisher",
    errno.EACCES: "permission denied; get permission to read it",
    errno.EPERM: "permission denied; get permission to read it",
    errno.ELOOP: "links that lead in a circle; put the file itself there",
    errno.ENAMETOOLONG: "its name is longer than the system allows; correct the name",
}


@contextmanager
def refused_as(kind: type[DamagedRecord] | type[DataError], name: object) -> Iterator[None]:
    """Turn what the system or a path refuses inside the block into one line of file, reason and remedy.

    The block holds nothing but work on paths and files: pathlib raises RuntimeError for links in a circle, and
    ValueError for a name with a NUL byte or a lone surrogate.

    Raises
    ------
    DamagedRecord, DataError
        Whichever ``kind`` is.
    """
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise kind(f"{as_one_line(str(name))}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return _REASONS.get(error.errno or 0) or f"{error.strerror or error}; get it again"
    if isinstance(error, RuntimeError):
        return _REASONS[errno.ELOOP]
    return "no file can have such a name; correct the name"


def is_there(path: Path) -> bool:
    """Tell whether something is at a path; what the system refuses to look at counts as there and fails when read."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return path.is_symlink()
    except (OSError, ValueError):
        return True
    return True


def is_folder(path: Path) -> bool:
    """Tell whether a folder is at a path.

    Raises
    ------
    DataError
        The system refuses to look.
    """
    with refused_as(DataError, path):
        return path.is_dir()


def file_names(folder: Path) -> list[str]:
    """Return the names in a folder, sorted.

    Raises
    ------
    DataError
        The folder cannot be listed.
    """
    with refused_as(DataError, folder):
        return sorted(path.name for path in folder.iterdir())


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file to be read; a pipe is not waited for.

    Raises
    ------
    OSError
        The file cannot be opened, or is no regular one.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse_irregular(os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def read_regular(path: Path, most_bytes: int = MOST_TEXT_BYTES) -> bytes:
    """Return the content of a regular file.

    Raises
    ------
    OSError
        The file cannot be opened, is no regular one, or is larger than that.
    """
    with open_regular(path) as file:
        n_bytes = os.fstat(file.fileno()).st_size
        if n_bytes > most_bytes:
            raise OSError(errno.EFBIG, f"{n_bytes} bytes, at most {most_bytes} are expected")
        return file.read(n_bytes)


def _refuse_irregular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is a pipe or a device instead of a file")


def source_file(folder: Path, relative: str, most_bytes: int | None = None) -> Path:
    """Return the path of a regular file that is not empty and lies inside the dataset's folder.

    Parameters
    ----------
    folder
        The dataset's folder.
    relative
        The file in it; may come from a table or a header.
    most_bytes
        The largest size that such a file can have; None sets no limit.

    Raises
    ------
    DamagedRecord
        The file is missing, empty, too large, no regular one, a link out of the folder, or a placeholder that
        git-annex left; or the system refuses it.
    """
    path = folder / relative
    with refused_as(DamagedRecord, relative):
        if not path.resolve().is_relative_to(folder.resolve()):
            raise DamagedRecord(f"{relative}: is outside of the dataset's folder; put the file itself there")
        if path.is_symlink() and not path.exists():
            raise DamagedRecord(
                f"{relative}: is a link to nothing; get the content (git-annex: 'datalad get')"
            )
        status = path.stat()
        _refuse_irregular(status)
        if status.st_size <= _ANNEX_POINTER_MAX_BYTES and b"annex/objects/" in read_regular(path):
            raise DamagedRecord(f"{relative}: is a git-annex placeholder; get the content ('datalad get')")
    if status.st_size == 0:
        raise DamagedRecord(f"{relative}: the file is empty; get it again from the publisher")
    if most_bytes is not None and status.st_size > most_bytes:
        raise DamagedRecord(
            f"{relative}: {status.st_size} bytes, at most {most_bytes} are expected; get it again"
        )
    return path
