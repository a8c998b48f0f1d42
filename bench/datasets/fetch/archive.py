"""Safe extraction of zip and tar archives that were downloaded and are not trusted."""

import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from bench.errors import DataError
from bench.files import atomic_folder

_CHUNK_BYTES = 1 << 20
_LONGEST_NAME = 1000
_DRIVE_OR_STREAM = ":"
# What zipfile and tarfile raise on damaged, encrypted or exotically compressed archives.
_READ_ERRORS = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(EOFError, ValueError, NotImplementedError, RuntimeError, OSError),
)


@dataclass(frozen=True)
class Limits:
    """What an archive may at most contain once unpacked; folders count as files."""

    max_bytes: int
    max_files: int


@dataclass(frozen=True)
class _Member:
    """An entry of an archive, before anything of it is trusted."""

    name: str
    kind: str  # "file", "folder", or what else it is
    n_bytes: int
    source: zipfile.ZipInfo | tarfile.TarInfo


def extract(archive: Path, target: Path, limits: Limits) -> int:
    """Unpack an archive into a new folder, wholly or not at all.

    Every name must lie inside the folder; links, devices, doubled names and encrypted entries are refused, and so
    is an archive that holds more than the limits, whatever its directory says of sizes.

    Parameters
    ----------
    archive
        A zip or tar file (plain, gzip, bzip2 or xz), told by content.
    target
        Folder to make; its parent must exist, itself must not.
    limits
        Bounds on the unpacked content.

    Returns
    -------
    int
        Number of files unpacked.

    Raises
    ------
    DataError
        The archive is damaged or hostile, or the target exists.
    """
    if target.exists():
        raise DataError(
            f"{target}: exists already; remove it or name another folder to unpack {archive.name}"
        )
    with atomic_folder(target) as temporary, _opened(archive) as opened:
        return _unpack(archive, opened, temporary, limits)


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


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile | tarfile.TarFile]:
    if not archive.is_file():
        raise DataError(f"{archive}: no such archive")
    try:
        # A tar may hold a zip, which is_zipfile would then find at its end.
        opener = tarfile.open if tarfile.is_tarfile(archive) else zipfile.ZipFile
        opened = opener(archive)
    except _READ_ERRORS as error:
        raise DataError(f"{archive}: not a zip or tar archive ({error}); download it again") from error
    with opened:
        yield opened


def _unpack(archive: Path, opened: zipfile.ZipFile | tarfile.TarFile, folder: Path, limits: Limits) -> int:
    seen: set[str] = set()
    n_files, n_bytes = 0, 0
    for n_entries, member in enumerate(_members(archive, opened), start=1):
        if n_entries > limits.max_files:
            raise DataError(f"{archive}: more than {limits.max_files} files and folders; not unpacked")
        path = inside(member.name)
        if path is None:
            raise DataError(f"{archive}: entry '{member.name[:100]}' leads out of the folder; not unpacked")
        if member.kind == "folder":
            _make_folder(archive, folder, folder.joinpath(path))
            continue
        if member.kind != "file":
            raise DataError(f"{archive}: entry '{path}' is {member.kind}; only files are unpacked")
        # File systems that fold case would overwrite the one with the other.
        if str(path).casefold() in seen:
            raise DataError(f"{archive}: entry '{path}' occurs twice; not unpacked")
        seen.add(str(path).casefold())
        n_files += 1
        if n_bytes + member.n_bytes > limits.max_bytes:
            raise DataError(f"{archive}: more than {limits.max_bytes} bytes unpacked; not unpacked")
        _make_folder(archive, folder, folder.joinpath(path).parent)
        n_bytes += _copy(archive, opened, member, folder.joinpath(path))
    if not n_files:
        raise DataError(f"{archive}: no files in it; download it again")
    return n_files


def _members(archive: Path, opened: zipfile.ZipFile | tarfile.TarFile) -> Iterator[_Member]:
    """Yield the entries; an error of the library becomes one line."""
    try:
        if isinstance(opened, zipfile.ZipFile):
            for info in opened.infolist():
                yield _Member(info.filename, _kind_in_zip(info), info.file_size, info)
        else:
            for info in opened:
                yield _Member(info.name, _kind_in_tar(info), info.size, info)
    except _READ_ERRORS as error:
        raise DataError(f"{archive}: damaged ({error}); download it again") from error


def _kind_in_zip(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & 0x1:
        return "encrypted"
    mode = info.external_attr >> 16
    # The type bits are empty where the archive was made on a system without them.
    if stat.S_IFMT(mode) and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "a link" if stat.S_ISLNK(mode) else "a device"
    return "folder" if info.is_dir() else "file"


def _kind_in_tar(info: tarfile.TarInfo) -> str:
    if info.isdir():
        return "folder"
    if info.issym() or info.islnk():
        return "a link"
    return "file" if info.isreg() else "a device"


def _make_folder(archive: Path, root: Path, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        relative = folder.relative_to(root)
        raise DataError(f"{archive}: '{relative}' is both a file and a folder; not unpacked") from error


def _copy(archive: Path, opened: zipfile.ZipFile | tarfile.TarFile, member: _Member, path: Path) -> int:
    """Copy one file, at most as many bytes as its entry says, and return how many those were."""
    n_bytes = 0
    try:
        with _content(opened, member) as content, path.open("xb") as file:
            while chunk := content.read(_CHUNK_BYTES):
                n_bytes += len(chunk)
                if n_bytes > member.n_bytes:
                    break
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    except _READ_ERRORS as error:
        raise DataError(f"{archive}: entry '{member.name}' cannot be unpacked ({error})") from error
    if n_bytes != member.n_bytes:
        raise DataError(
            f"{archive}: entry '{member.name}' does not have the {member.n_bytes} bytes that it says"
        )
    return n_bytes


def _content(opened: zipfile.ZipFile | tarfile.TarFile, member: _Member) -> IO[bytes]:
    if isinstance(opened, zipfile.ZipFile):
        assert isinstance(member.source, zipfile.ZipInfo)
        return opened.open(member.source)
    assert isinstance(member.source, tarfile.TarInfo)
    content = opened.extractfile(member.source)
    assert content is not None, f"{member.name} is a regular file"
    return content
