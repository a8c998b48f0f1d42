"""What the cache holds of prepared windows, whether it is still of use, and its removal."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.datasets import registry
from bench.datasets.cache.entry import Entry, entries_folder, locate, lock_of
from bench.datasets.cache.manifest import read_manifest
from bench.errors import BenchError, DataError

State = Literal["in use", "stale", "unfinished", "unknown"]
_PARTIAL = ".partial"


@dataclass(frozen=True)
class Stored:
    """One folder of prepared windows.

    ``in use``: the dataset's files are still those that it was cut from. ``stale``: they are not, or a newer reader or
    library would cut anew, so nothing will open it. ``unfinished``: what a killed process left. ``unknown``: the
    reader of a user's own dataset is not at hand, so nobody can tell.
    """

    dataset: str
    folder: Path
    source_folder: str
    state: State
    n_bytes: int
    age_s: float


def stored() -> list[Stored]:
    """Return all prepared windows in the cache, by dataset and age."""
    found = [stored for folder in _folders() for stored in _look(folder)]
    return sorted(found, key=lambda stored: (stored.dataset, stored.age_s))


def remove(stored: Stored) -> bool:
    """Delete a folder of prepared windows; False where a process is cutting windows into it.

    Raises
    ------
    DataError
        The folder cannot be deleted.
    """
    from filelock import Timeout

    try:
        with lock_of(Path(str(stored.folder).removesuffix(_PARTIAL)), timeout_s=0):
            # The manifest goes first: an entry half removed is none.
            Entry(stored.folder).manifest.unlink(missing_ok=True)
            shutil.rmtree(stored.folder)
    except Timeout:
        return False
    except OSError as error:
        raise DataError(
            f"{stored.folder}: cannot be removed ({error.strerror}); get permission to remove it"
        ) from error
    return True


def _folders() -> Iterator[Path]:
    root = entries_folder()
    for dataset in sorted(root.iterdir()) if root.is_dir() else []:
        try:
            yield from (folder for folder in sorted(dataset.iterdir()) if folder.is_dir())
        except (NotADirectoryError, PermissionError):
            # No folder of ours, such as `lost+found`.
            continue


def _look(folder: Path) -> Iterator[Stored]:
    try:
        n_bytes = sum(path.stat().st_size for path in folder.iterdir())
        age_s = time.time() - folder.stat().st_mtime
    except FileNotFoundError:
        # Renamed or removed since it was listed.
        return
    source, state = "", "unfinished"
    if folder.suffix != _PARTIAL:
        source, state = _source_and_state(folder)
    yield Stored(folder.parent.name, folder, source, state, n_bytes, age_s)


def _source_and_state(folder: Path) -> tuple[str, State]:
    try:
        manifest = read_manifest(Entry(folder).manifest)
    except DataError:
        return "", "stale"
    source = Path(manifest.source_folder)
    if not source.is_dir():
        return str(source), "stale"
    try:
        if manifest.dataset not in registry.names():
            registry.register_imported(source.parent)
        if manifest.dataset not in registry.names():
            return str(source), "unknown"
        current = locate(manifest.dataset, source.parent).entry.folder
    except BenchError:
        return str(source), "unknown"
    return str(source), "in use" if current == folder else "stale"
