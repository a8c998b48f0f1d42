"""Fetches a dataset from its publisher, file by file or as an archive; only ever when asked to."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import locks
from bench.datasets.fetch.archive import extract
from bench.datasets.fetch.download import Arrived, download
from bench.datasets.fetch.source_table import (
    Archive,
    ChecksumList,
    FileTable,
    RemoteFile,
    Source,
    address_of,
    is_wanted,
    listed_checksums,
    read_table,
)
from bench.datasets.simulate.marker import MARKER_NAME
from bench.errors import DataError
from bench.files import atomic_file, sha256_of, unwritable

NOTE_NAME = "FETCHED.json"


@dataclass(frozen=True)
class Fetched:
    """What fetching did.

    ``sha256`` is that of the archive or of the publisher's list of checksums, for comparison with somebody else's;
    None where this package knows every file's.
    """

    folder: Path
    n_files: int
    n_files_kept: int
    n_files_replaced: int
    sha256: str | None


def needed_bytes(source: Source) -> int:
    """Return the room that fetching takes at its peak: the archive, what it holds, and an archive inside of it."""
    if not isinstance(source.content, Archive):
        return source.n_bytes
    n_unpackings = 1 if source.content.inner is None else 2
    return source.n_bytes + n_unpackings * source.content.max_bytes


def free_bytes(folder: Path) -> int:
    """Return the free room of the disk that a folder is or would be on."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def fetch(source: Source, root: Path, *, replace: bool = False, arrived: Arrived = lambda n: None) -> Fetched:
    """Download a dataset into its folder in ``root``; what is there and right is kept, and never fetched again.

    Every file is compared with its checksum where one is known and moved to its name only when whole. ``replace``
    fetches files again whose checksum differs; they may be damaged, or those of another version. ``arrived`` is
    called as by `download`, and for files that are there. What was fetched from where, with the checksum of archive
    or list, is noted in ``FETCHED.json`` in the folder.

    Raises
    ------
    BenchError
        There is no room, the folder cannot be written, another fetch is running, there is a simulation or files
        that differ, the server does not have the files, or what it sends is not what it should be.
    """
    folder = root / source.name
    if (folder / MARKER_NAME).exists():
        raise DataError(f"{folder}: holds simulated data; remove it or give another --data folder")
    with _workplace(folder) as workplace:
        job = _Job(source, folder, workplace, arrived)
        if isinstance(source.content, Archive):
            return _fetch_archive(job, source.content)
        if isinstance(source.content, FileTable):
            return _fetch_files(job, read_table(source.content.path), None, replace)
        return _fetch_files(job, *_fetch_list(job, source.content), replace)


@dataclass(frozen=True)
class _Job:
    """A fetch under way; the workplace is a folder beside the dataset's for what is not whole yet."""

    source: Source
    folder: Path
    workplace: Path
    arrived: Arrived


def _fetch_list(job: _Job, content: ChecksumList) -> tuple[list[RemoteFile], Path]:
    """Return the files of the publisher's list that are wanted, and the list, which is in the workplace."""
    address = address_of(job.source, content.path)
    files = {address: RemoteFile(content.path, content.sha256)}
    download(files, job.workplace, job.workplace, job.source.n_bytes, job.arrived)
    path = job.workplace / content.path
    listed, wrong = listed_checksums(path.read_text(encoding="utf-8", errors="replace"))
    if wrong:
        row, line = wrong[0]
        raise DataError(
            f"{address}, line {row}: '{line[:80]}' is not a SHA-256 and a path within the folder; check the address"
        )
    wanted = [file for file in listed if is_wanted(file.path, content.include)]
    if not wanted:
        raise DataError(f"{address}: lists none of {', '.join(content.include)}; check the address")
    return wanted, path


def _fetch_files(job: _Job, wanted: Sequence[RemoteFile], listing: Path | None, replace: bool) -> Fetched:
    """Fetch the files that are not there; the list they are from goes beside them."""
    folder = job.folder
    present = [file for file in wanted if (folder / file.path).exists()]
    differing = _differing(present, folder, replace)
    folder.mkdir(exist_ok=True)
    digest = None
    if listing is not None:
        digest = sha256_of(listing)
        listing.replace(folder / listing.name)
    kept = set(present) - set(differing)
    missing = {address_of(job.source, file.path): file for file in wanted if file not in kept}
    _require_room(folder, job.source.n_bytes * len(missing) // len(wanted))
    job.arrived(sum((folder / file.path).stat().st_size for file in kept))
    download(missing, folder, job.workplace, job.source.n_bytes, job.arrived)
    _write_note(job.source, folder, digest)
    return Fetched(folder, len(wanted), len(kept), len(differing), digest)


def _differing(present: Sequence[RemoteFile], folder: Path, replace: bool) -> list[RemoteFile]:
    """Return the files that are there with another checksum; refuse them unless they may be replaced."""
    differing = [file for file in present if file.sha256 not in (None, sha256_of(folder / file.path))]
    if differing and not replace:
        some = ", ".join(file.path for file in differing[:3]) + (", ..." if len(differing) > 3 else "")
        raise DataError(
            f"{folder}: {len(differing)} of {len(present)} files that are there do not have the publisher's checksum "
            f"({some}): damaged, or of another version; fetch them again with --replace, or give another --data folder"
        )
    return differing


def _write_note(source: Source, folder: Path, digest: str | None) -> None:
    """Note in the folder what was fetched from where, so that two people can compare it."""
    note = {
        "dataset": source.name,
        "address": source.address,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "path": source.content.path,
        "sha256": digest,
    }
    with atomic_file(folder / NOTE_NAME) as temporary:
        temporary.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def _fetch_archive(job: _Job, content: Archive) -> Fetched:
    """Download, unpack beside the folder, and move what is wanted in."""
    folder = job.folder
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: is not empty, and an archive replaces it as a whole; remove it first")
    _require_room(folder.parent, needed_bytes(job.source))
    archive, ready = job.workplace / "archive", job.workplace / "ready"
    address = address_of(job.source, content.path)
    files = {address: RemoteFile(archive.name, content.sha256)}
    download(files, job.workplace, job.workplace, content.max_bytes, job.arrived)
    try:
        n_files = _unpack(archive, content, ready)
    except DataError as error:
        raise DataError(f"{address}: {error}") from error
    digest = sha256_of(archive)
    _write_note(job.source, ready, digest)
    if folder.exists():
        folder.rmdir()
    ready.rename(folder)
    return Fetched(folder, n_files, 0, 0, digest)


def _unpack(archive: Path, content: Archive, ready: Path) -> int:
    """Unpack what is wanted, from the archive or from the one inside of it, and return the number of files."""
    if content.inner is not None:
        outer = archive.with_name("outer")
        extract(archive, outer, (content.inner,), content.max_bytes, content.max_files)
        archive = outer / content.inner
    return extract(archive, ready, content.take, content.max_bytes, content.max_files)


@contextmanager
def _workplace(folder: Path) -> Iterator[Path]:
    """Give an empty folder beside the dataset's, to one fetch at a time; nothing of it stays."""
    from filelock import Timeout

    path = folder.with_name(f".{folder.name}.fetching")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.with_name(f".{folder.name}.fetch.lock")
        with locks.locked(lock, at_risk="two fetches of one dataset may disturb each other", timeout_s=0):
            # A fetch that was killed has left its own.
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
            try:
                yield path
            finally:
                shutil.rmtree(path, ignore_errors=True)
    except Timeout as error:
        raise DataError(f"{folder}: another fetch of it is running; wait for it to end") from error
    except OSError as error:
        raise unwritable(folder.parent, error) from error


def _require_room(folder: Path, n_bytes: int) -> None:
    free = free_bytes(folder)
    if free < n_bytes:
        raise DataError(
            f"{folder}: about {n_bytes / 1e9:.2f} GB are needed and {free / 1e9:.2f} GB are free; make room or give "
            "another --data folder"
        )
