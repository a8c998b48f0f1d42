"""Fetches a dataset from its publisher, file by file or as an archive; only ever when asked to."""

import json
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bench.datasets.fetch.archive import Limits, extract
from bench.datasets.fetch.download import ResumingDownloader, StoppedError
from bench.datasets.fetch.source_table import (
    Archive,
    ChecksumList,
    FileTable,
    RemoteFile,
    Source,
    address_of,
    is_wanted,
    parse_checksums,
    read_table,
    source,
)
from bench.datasets.simulate.marker import MARKER_NAME
from bench.errors import DataError
from bench.files import atomic_file, sha256_of

if TYPE_CHECKING:
    from requests import Session

CONNECTIONS = 4
NOTE_NAME = "FETCHED.json"
_NOT_DATA = ("__MACOSX", "._")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FetchPlan:
    """What fetching would do, to be shown before it starts; made without the network.

    ``n_bytes`` and ``n_files`` are approximate; ``n_bytes_needed`` counts what an archive unpacks to as well.
    ``n_bytes_free`` is what the disk has.
    """

    name: str
    homepage: str
    licence: str
    address: str
    folder: Path
    n_files: int
    n_bytes: int
    n_bytes_needed: int
    n_bytes_free: int
    notes: tuple[str, ...]


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


def plan(name: str, root: Path, *, base_address: str | None = None) -> FetchPlan:
    """Say what fetching a dataset into ``root/name`` would do.

    Raises
    ------
    UsageError
        The dataset cannot be fetched, or the address is not https.
    """
    found = source(name, base_address)
    return FetchPlan(
        name=name,
        homepage=found.homepage,
        licence=found.licence,
        address=found.address,
        folder=root / name,
        n_files=found.n_files,
        n_bytes=found.n_bytes,
        n_bytes_needed=_needed_bytes(found),
        n_bytes_free=_free_bytes(root),
        notes=found.notes,
    )


def fetch(
    name: str,
    root: Path,
    *,
    base_address: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Fetched:
    """Download a dataset into ``root/name``, going on where an earlier run stopped.

    Every file is compared with its checksum where one is known, moved to its name only when whole, and kept when
    it is there already. What was fetched from where, with the checksum of archive or list, is noted in
    ``FETCHED.json`` in the folder.

    Parameters
    ----------
    name
        Registered name of the dataset.
    root
        Folder with one sub-folder per dataset, made if need be.
    base_address
        Another address with the publisher's layout, such as a mirror's; https only.
    replace
        Fetch files again whose checksum differs; they may be damaged, or those of another version.
    progress
        Called with the bytes that have arrived and the bytes expected, approximately, from one thread at a time.

    Raises
    ------
    UsageError
        The dataset cannot be fetched, or the address is not https.
    DataError
        There is no room, another fetch is running, the folder holds a simulation or files that differ, the server
        does not have the files, or what it sends is not what it should be.
    """
    found = source(name, base_address)
    folder = root / name
    if (folder / MARKER_NAME).exists():
        raise DataError(f"{folder}: holds simulated data; remove it or give another --data folder")
    tally = _Tally(found.n_bytes, progress)
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root, name):
        if isinstance(found.content, Archive):
            return _fetch_archive(found, found.content, folder, tally)
        return _fetch_files(found, found.content, folder, replace, tally)


def _fetch_files(
    found: Source, content: ChecksumList | FileTable, folder: Path, replace: bool, tally: "_Tally"
) -> Fetched:
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(content, FileTable):
        wanted, digest = read_table(content.path), None
        differing = _differing(wanted, folder, replace)
    else:
        with _arriving_list(found, content, folder, tally) as listing:
            text = listing.read_text(encoding="utf-8", errors="replace")
            listed = parse_checksums(text, address_of(found, content.path))
            wanted = [one for one in listed if is_wanted(one.path, content.include)]
            if not wanted:
                raise DataError(f"{found.address}{content.path}: lists none of {', '.join(content.include)}")
            digest = sha256_of(listing)
            differing = _differing(wanted, folder, replace)
    present = {one.path for one in wanted if (folder / one.path).exists()}
    missing = [one for one in wanted if one.path not in present] + differing
    _require_room(folder, found.n_bytes * len(missing) // len(wanted))
    for one in wanted:
        if one.path in present:
            tally.set(address_of(found, one.path), (folder / one.path).stat().st_size)
    if missing:
        _download(found, missing, folder, tally)
    _write_note(found, folder, content.path, digest)
    return Fetched(folder, len(wanted), len(present) - len(differing), len(differing), digest)


@contextmanager
def _arriving_list(found: Source, content: ChecksumList, folder: Path, tally: "_Tally") -> Iterator[Path]:
    """Give the publisher's list; a new one takes the place of an old one when the block ends well."""
    path = folder / content.path
    # Without a checksum of its own a list from an earlier run may be another version's.
    if content.sha256 is not None and path.exists() and sha256_of(path) == content.sha256:
        yield path
        return
    arriving = path.with_name(f"{path.name}.new")
    arriving.unlink(missing_ok=True)
    address = address_of(found, content.path)
    _download(found, [RemoteFile(arriving.name, content.sha256)], folder, tally, address=address)
    try:
        yield arriving
        arriving.replace(path)
    finally:
        arriving.unlink(missing_ok=True)


def _differing(wanted: Sequence[RemoteFile], folder: Path, replace: bool) -> list[RemoteFile]:
    """Return the files that are there with another checksum; refuse them unless they may be replaced."""
    present = [one for one in wanted if (folder / one.path).exists()]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        digests = list(pool.map(lambda one: sha256_of(folder / one.path), present))
    differing = [
        one
        for one, digest in zip(present, digests, strict=True)
        if one.sha256 is not None and digest != one.sha256
    ]
    if differing and not replace:
        some = ", ".join(one.path for one in differing[:3]) + (", ..." if len(differing) > 3 else "")
        raise DataError(
            f"{folder}: {len(differing)} of {len(present)} files that are there do not have the publisher's checksum "
            f"({some}): damaged, or of another version; fetch them again with --replace, or give another --data folder"
        )
    return differing


def _write_note(found: Source, folder: Path, path: str, digest: str | None) -> None:
    """Note in the folder what was fetched from where, so that two people can compare it."""
    note = {
        "dataset": found.name,
        "address": found.address,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "path": path,
        "sha256": digest,
    }
    with atomic_file(folder / NOTE_NAME) as temporary:
        temporary.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def _fetch_archive(found: Source, content: Archive, folder: Path, tally: "_Tally") -> Fetched:
    """Download, unpack beside the folder, and move what is wanted in."""
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: is not empty, and an archive replaces it as a whole; remove it first")
    _require_room(folder.parent, _needed_bytes(found))
    workplace = folder.parent / f".{found.name}.fetching"
    if content.sha256 is None:
        # Nothing tells a whole archive of an earlier run from a useless one.
        shutil.rmtree(workplace, ignore_errors=True)
    workplace.mkdir(exist_ok=True)
    url = address_of(found, content.path)
    _download(found, [RemoteFile("archive", content.sha256)], workplace, tally, address=url)
    unpacked, inner, ready = (workplace / step for step in ("unpacked", "inner", "ready"))
    for step in (unpacked, inner, ready):
        shutil.rmtree(step, ignore_errors=True)
    limits = Limits(content.max_bytes, content.max_files)
    extract(workplace / "archive", unpacked, limits)
    if content.inner is not None:
        extract(_found_in(unpacked, (content.inner,), found)[0], inner, limits)
        unpacked = inner
    ready.mkdir()
    for path in _found_in(unpacked, content.take, found):
        path.rename(ready / path.name)
    n_files = sum(path.is_file() for path in ready.rglob("*"))
    digest = sha256_of(workplace / "archive")
    _write_note(found, ready, content.path, digest)
    if folder.exists():
        folder.rmdir()
    ready.rename(folder)
    shutil.rmtree(workplace)
    return Fetched(folder, n_files, 0, 0, digest)


def _found_in(unpacked: Path, patterns: Sequence[str], found: Source) -> list[Path]:
    """Return what matches, anywhere in an unpacked archive, without what macOS adds."""
    paths = [
        path
        for pattern in patterns
        for path in sorted(unpacked.rglob(pattern))
        if not any(part.startswith(_NOT_DATA) for part in path.relative_to(unpacked).parts)
    ]
    if not paths:
        raise DataError(
            f"{found.address}: no {' or '.join(patterns)} in the archive; has the publisher changed it?"
        )
    names = [path.name for path in paths]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{found.address}: {names.count(name)} entries named '{name}' in the archive")
    return paths


def _download(
    found: Source, files: Sequence[RemoteFile], folder: Path, tally: "_Tally", address: str | None = None
) -> None:
    """Download files over a few connections at once; the first failure stops the others."""
    stop = threading.Event()
    sessions = threading.local()

    def one(file: RemoteFile) -> None:
        if not stop.is_set():
            _download_one(
                _session(sessions), file, folder, address or address_of(found, file.path), tally, stop
            )

    with ThreadPoolExecutor(min(CONNECTIONS, len(files))) as pool:
        futures: list[Future[None]] = [pool.submit(one, file) for file in files]
        try:
            for future in as_completed(futures):
                future.result()
        finally:
            stop.set()


def _download_one(
    session: "Session", file: RemoteFile, folder: Path, url: str, tally: "_Tally", stop: threading.Event
) -> None:
    import pooch

    # Its notes on where files go are ours to give.
    pooch.get_logger().setLevel("ERROR")
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    downloader = ResumingDownloader(
        session,
        path.with_name(f".{path.name}.part"),
        n_bytes=file.n_bytes,
        trust_part=file.sha256 is not None,
        on_position=lambda position: tally.set(url, position),
        stop=stop,
        wait=stop.wait,
    )
    known_hash = f"sha256:{file.sha256}" if file.sha256 else None
    try:
        pooch.retrieve(url, known_hash, fname=path.name, path=path.parent, downloader=downloader)
    except StoppedError:
        return
    except ValueError as error:
        raise DataError(
            f"{url}: the content does not have the publisher's checksum {file.sha256}; it was discarded, run again"
        ) from error
    tally.set(url, path.stat().st_size)


def _session(sessions: threading.local) -> "Session":
    import requests

    if not hasattr(sessions, "session"):
        sessions.session = requests.Session()
    return sessions.session


class _Tally:
    """Sums the positions of all downloads for a progress display."""

    def __init__(self, n_bytes: int, progress: Progress | None):
        self._n_bytes = n_bytes
        self._progress = progress
        self._positions: dict[str, int] = {}
        self._sum = 0
        self._lock = threading.Lock()

    def set(self, url: str, position: int) -> None:
        """Note how far a download has come."""
        if self._progress is None:
            return
        with self._lock:
            self._sum += position - self._positions.get(url, 0)
            self._positions[url] = position
            self._progress(self._sum, self._n_bytes)


@contextmanager
def _locked(root: Path, name: str) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(root / f".{name}.fetch.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise DataError(f"{root / name}: another fetch of {name} is running; wait for it to end") from error
    try:
        yield
    finally:
        lock.release()


def _needed_bytes(found: Source) -> int:
    """Return the room that fetching takes at its peak: the archive, what it holds, and an archive inside of it."""
    if not isinstance(found.content, Archive):
        return found.n_bytes
    n_unpackings = 1 if found.content.inner is None else 2
    return found.n_bytes + n_unpackings * found.content.max_bytes


def _free_bytes(folder: Path) -> int:
    """Return the free room of the disk that a folder is or would be on."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _require_room(folder: Path, n_bytes: int) -> None:
    free = _free_bytes(folder)
    if free < n_bytes:
        raise DataError(
            f"{folder}: about {n_bytes / 1e9:.2f} GB are needed and {free / 1e9:.2f} GB are free; make room or give "
            "another --data folder"
        )
