"""Where prepared windows lie, and how an entry is tied to the files that it was made from."""

import hashlib
import importlib.metadata
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bench import locks, plugins
from bench.datasets.cache.manifest import SCHEMA, Manifest, read_manifest
from bench.datasets.contract import Reader, SourceList
from bench.datasets.declared import read_declaration
from bench.datasets.fetch.source_table import how_to_get
from bench.datasets.formats.source_files import is_folder, refused_as
from bench.datasets.registry import entry, reader
from bench.datasets.simulate.marker import read_marker
from bench.errors import DataError
from bench.files import cache_root


@dataclass(frozen=True)
class Entry:
    """The files of one prepared dataset."""

    folder: Path

    @property
    def manifest(self) -> Path:
        """What the entry holds."""
        return self.folder / "manifest.json"

    @property
    def windows(self) -> Path:
        """Windows as cut."""
        return self.folder / "windows.npy"

    @property
    def labels(self) -> Path:
        """Class of each window."""
        return self.folder / "labels.npy"

    @property
    def subject(self) -> Path:
        """Subject of each window."""
        return self.folder / "subject.npy"

    @property
    def record(self) -> Path:
        """Source record of each window."""
        return self.folder / "record.npy"

    @property
    def arrays(self) -> tuple[Path, ...]:
        """All arrays."""
        return (self.windows, self.labels, self.subject, self.record)


@dataclass(frozen=True)
class Located:
    """A dataset's folder as it is now: its reader, its records, and the stamp and cache entry that follow."""

    name: str
    folder: Path
    reader: Reader
    listing: SourceList
    stamp: str
    entry: Entry


def entries_folder() -> Path:
    """Return where prepared windows lie: a folder for each dataset, with one for each state of its files."""
    return cache_root() / "datasets"


def lock_of(entry_folder: Path, timeout_s: float = -1.0) -> AbstractContextManager[None]:
    """Return the lock that whoever writes or removes an entry holds; see `bench.locks.locked`."""
    return locks.locked(
        entry_folder.with_name(f"{entry_folder.name}.lock"),
        at_risk="two processes may cut the same windows at once; run 'bench data prepare' first, once",
        timeout_s=timeout_s,
    )


def dataset_folder(name: str, root: Path | str) -> Path:
    """Return the folder of a dataset.

    Raises
    ------
    DataError
        It is not there.
    """
    with refused_as(DataError, root):
        folder = Path(root).expanduser() / name
    if is_folder(folder):
        return folder
    raise DataError(
        f"{folder}: no such folder; {how_to_get(reader(name).FACTS)}, or give the folder that has it with --data"
    )


def locate(name: str, root: Path | str) -> Located:
    """List a dataset's records and stamp the files they are read from.

    Raises
    ------
    DataError
        The folder is missing or unusable.
    """
    folder = dataset_folder(name, root)
    module = reader(name)
    path = entry(name).path
    listing = module.records(folder)
    stamp = _stamp(folder, module, listing, "" if path is None else plugins.source_hash(path))
    return Located(name, folder, module, listing, stamp, Entry(entries_folder() / name / stamp[:24]))


def find_prepared(name: str, root: Path | str) -> Manifest | None:
    """Return the manifest of the windows prepared from the files as they are now, None if there are none.

    Raises
    ------
    DataError
        The dataset's folder is missing or unusable, or the prepared windows are damaged.
    """
    return manifest_of(locate(name, root))


def manifest_of(source: Located) -> Manifest | None:
    """Return the manifest of a source's cache entry, None if there is no entry.

    Raises
    ------
    DataError
        The entry is damaged.
    """
    if not source.entry.manifest.exists():
        return None
    manifest = read_manifest(source.entry.manifest)
    for path in source.entry.arrays:
        found = path.stat().st_size if path.exists() else None
        if found != manifest.files.get(path.name):
            raise DataError(
                f"{path}: {found} bytes, the manifest says {manifest.files.get(path.name)}; delete the folder "
                f"{path.parent} and prepare again"
            )
    return manifest


def _stamp(folder: Path, module: Reader, listing: SourceList, own_source: str) -> str:
    """Hash what the windows follow from: reader, its libraries, records (hence the tables), the files' size and time.

    ``own_source`` is the hash of a user's own reader with the files that it imports from beside it. The folder's
    path is part of the stamp, since archives unpack with times in whole seconds, which two folders can share.
    """
    digest = hashlib.sha256()
    marker = read_marker(folder)
    libraries: tuple[str, ...] = getattr(module, "LIBRARIES", ())
    revision = (module.REVISION, own_source)
    head = (SCHEMA, module.FACTS.name, revision, str(folder.resolve()), sorted((marker or {}).items()))
    digest.update(repr(head).encode())
    digest.update(repr([(name, importlib.metadata.version(name)) for name in libraries]).encode())
    declaration = read_declaration(folder)
    if declaration is not None:
        digest.update(declaration.model_dump_json().encode())
    digest.update(repr(listing.excluded).encode())
    for record in listing.records:
        digest.update(f"{record}\n".encode())
        for path in record.paths:
            digest.update(f"{path} {_size_and_time(folder / path)}\n".encode())
    return digest.hexdigest()


def _size_and_time(path: Path) -> str:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except (OSError, ValueError):
        return "refused"
    return f"{status.st_size} {status.st_mtime_ns}"
