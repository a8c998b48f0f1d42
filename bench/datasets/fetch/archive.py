"""Safe extraction of zip archives that were downloaded and are not trusted."""

import lzma
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from bench.errors import DataError
from bench.files import atomic_folder

_NOT_DATA = ("__MACOSX", "._")
_LONGEST_NAME = 1000
_DRIVE_OR_STREAM = ":"
_ENCRYPTED = 0x1
# Of other methods a header alone can ask for gigabytes of memory.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile raises on damaged or exotically compressed archives.
_READ_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, ValueError, NotImplementedError, RuntimeError, OSError),
)


def extract(archive: Path, target: Path, take: Sequence[str], max_bytes: int, max_files: int) -> int:
    """Unpack what is wanted of a zip archive into a new folder, wholly or not at all, and return the number of files.

    Every name in the archive must lie inside of it; links, devices and encrypted or oddly compressed entries are
    refused before anything is written, and so are more than ``max_files`` entries, or more than ``max_bytes`` in those
    wanted. ``take`` are shell patterns of names of files or folders, which lie anywhere and go directly into the
    target.

    Raises
    ------
    DataError
        The archive is damaged or hostile, or nothing in it is wanted.
    """
    try:
        opened = zipfile.ZipFile(archive)
    except _READ_ERRORS as error:
        raise DataError(f"{archive.name}: not a zip archive ({error}); run the command again") from error
    with opened, atomic_folder(target) as temporary:
        if len(opened.infolist()) > max_files:
            raise DataError(f"{archive.name}: more than {max_files} files and folders; not unpacked")
        files = _chosen(archive, opened, take)
        if sum(entry.file_size for entry in files.values()) > max_bytes:
            raise DataError(f"{archive.name}: more than {max_bytes} bytes unpacked; not unpacked")
        for path, entry in files.items():
            _copy(archive, opened, entry, temporary / path)
        return len(files)


def inside(name: str) -> PurePosixPath | None:
    """Return a name as a relative path with no step upwards, or None where it is anything else."""
    path = PurePosixPath(name)
    harmless = (
        name.isprintable()
        and 0 < len(name) <= _LONGEST_NAME
        and "\\" not in name
        and _DRIVE_OR_STREAM not in name
        and not path.is_absolute()
        and ".." not in path.parts
        and path.parts
    )
    return path if harmless else None


def _chosen(archive: Path, opened: zipfile.ZipFile, take: Sequence[str]) -> dict[str, zipfile.ZipInfo]:
    """Return the wanted files by path in the target, if every entry is a plain file or folder."""
    files: dict[str, zipfile.ZipInfo] = {}
    for entry in opened.infolist():
        path = inside(entry.filename)
        if path is None:
            raise DataError(
                f"{archive.name}: entry '{entry.filename[:100]}' leads out of the folder; not unpacked"
            )
        if kind := _refused_kind(entry):
            raise DataError(f"{archive.name}: entry '{path}' is {kind}; only files are unpacked")
        goal = None if entry.is_dir() else _goal(path, take)
        if goal in files:
            raise DataError(f"{archive.name}: '{goal}' occurs twice; not unpacked")
        if goal is not None:
            files[goal] = entry
    if len({goal.casefold() for goal in files}) < len(files):
        raise DataError(f"{archive.name}: names in it differ only in case; not unpacked")
    if not files:
        raise DataError(f"{archive.name}: no {' or '.join(take)} in it; has the publisher changed it?")
    return files


def _goal(path: PurePosixPath, take: Sequence[str]) -> str | None:
    """Return the path from the first part on that is wanted, without what macOS adds."""
    if any(part.startswith(_NOT_DATA) for part in path.parts):
        return None
    wanted = (at for at, part in enumerate(path.parts) if any(fnmatchcase(part, name) for name in take))
    at = next(wanted, None)
    return None if at is None else "/".join(path.parts[at:])


def _refused_kind(entry: zipfile.ZipInfo) -> str | None:
    mode = entry.external_attr >> 16
    # The type bits are empty where the archive was made on a system without them.
    if stat.S_IFMT(mode) and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "a link" if stat.S_ISLNK(mode) else "a device"
    if entry.flag_bits & _ENCRYPTED:
        return "encrypted"
    return None if entry.compress_type in _METHODS else f"compressed by method {entry.compress_type}"


def _copy(archive: Path, opened: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> None:
    """Copy one file; zipfile stops at the size that the directory says and compares the checksum."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with opened.open(entry) as content, path.open("xb") as file:
            shutil.copyfileobj(content, file)
            file.flush()
            os.fsync(file.fileno())
    except _READ_ERRORS as error:
        raise DataError(f"{archive.name}: entry '{entry.filename}' cannot be unpacked ({error})") from error
