"""Gives the windows of a dataset, prepared if need be and scaled, in memory or mapped from the cache."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import locks
from bench.datasets.cache.entry import Located, locate, manifest_of
from bench.datasets.cache.prepare import prepare
from bench.datasets.contract import Dataset, Normalisation, Split
from bench.datasets.formats.npy_file import map_npy
from bench.datasets.formats.npy_stream import NpyStream
from bench.datasets.normalisation import channel_statistics, normalise_channels, normalise_windows
from bench.datasets.splits import make_split
from bench.errors import DataError
from bench.files import atomic_file
from bench.machine import available_bytes

# Scales windows in place.
_Scale = Callable[[NDArray[np.float32]], None]
_BYTES_PER_READ = 32 << 20
_LARGEST_SHARE_OF_MEMORY = 0.5


def load(
    name: str, root: Path | str, normalise: bool | Normalisation = True, split: Split | None = None
) -> Dataset:
    """Return the windows of a dataset, preparing them first if that has not been done.

    Damage is not judged here: `prepare` does before anything is planned, and what a plan rests on is compared by
    fingerprint.

    Parameters
    ----------
    name
        A registered dataset.
    root
        Folder with one sub-folder per dataset; only read.
    normalise
        True scales the windows as the dataset's facts say, a name as that one; False leaves them as cut, mapped
        from the cache.
    split
        Whose training part gives the statistics where scaling is per channel; the published one by default.

    Raises
    ------
    DataError
        The dataset's folder is missing or unusable, or the prepared windows are damaged.
    """
    source = locate(name, root)
    manifest = manifest_of(source) or prepare(name, root, allow_skipped=True)
    facts, entry = source.reader.FACTS, source.entry
    subject = np.array(_mapped(entry.subject))
    kind = normalise if isinstance(normalise, str) else facts.normalisation if normalise else "none"
    if kind == "window":
        windows = _scaled(source, "window", normalise_windows)
    elif kind == "channel":
        split = split or make_split(name, manifest.subjects, kind=manifest.provenance.kind)
        windows = _scaled_by_channel(source, subject, split)
    else:
        windows = _mapped(entry.windows)
    if windows.shape != (manifest.n_windows, facts.n_times, facts.n_channels):
        raise DataError(
            f"{entry.windows}: shape {windows.shape} is not the manifest's; delete {entry.folder} and prepare again"
        )
    return Dataset(
        facts=facts,
        windows=windows,
        labels=np.array(_mapped(entry.labels)),
        subject=subject,
        record=np.array(_mapped(entry.record)),
        fingerprint=manifest.fingerprint,
        normalisation=kind,
        provenance=manifest.provenance,
    )


def _mapped(path: Path) -> np.memmap:
    try:
        array = map_npy(path)
    except DataError as error:
        raise DataError(f"{error}; delete the folder {path.parent} and prepare again") from error
    assert isinstance(array, np.memmap), f"{path} is not mapped"
    return array


def _scaled_by_channel(source: Located, subject: NDArray[np.str_], split: Split) -> NDArray[np.float32]:
    training = np.flatnonzero(np.isin(subject, np.asarray(split.train, dtype=str)))
    if not len(training):
        raise DataError(f"{source.name}: no window belongs to the training part of split '{split.origin}'")
    mean, deviation = channel_statistics(_mapped(source.entry.windows), training)
    names = hashlib.sha256("\n".join(sorted(split.train)).encode()).hexdigest()
    return _scaled(source, f"channel-{names[:16]}", lambda x: normalise_channels(x, mean, deviation))


def _scaled(source: Located, key: str, scale: _Scale) -> NDArray[np.float32]:
    """Return scaled windows: in memory where they fit, else from a second file in the cache."""
    path = source.entry.windows
    if path.stat().st_size <= _LARGEST_SHARE_OF_MEMORY * available_bytes():
        return read_scaled(path, scale)
    scaled = path.with_name(f"windows-{key}.npy")
    if not scaled.exists():
        _write_scaled_once(path, scaled, scale)
    return _mapped(scaled)


def read_scaled(path: Path, scale: _Scale) -> NDArray[np.float32]:
    """Read windows block by block into one array and scale each block there: nothing is held twice."""
    mapped = _mapped(path)
    windows = np.empty(mapped.shape, dtype="<f4")
    with path.open("rb") as file:
        file.seek(mapped.offset)
        for block in _reads(windows):
            file.readinto(block)  # pyright: ignore[reportArgumentType] numpy arrays are writable buffers
            scale(block)
    return windows


def _write_scaled_once(path: Path, scaled: Path, scale: _Scale) -> None:
    """Write the scaled windows under a lock, so that one process does and the others wait for it."""
    try:
        with locks.locked(
            scaled.with_name(f".{scaled.name}.lock"), at_risk="windows may be scaled twice at once"
        ):
            if scaled.exists():
                return
            # What a killed process left: the lock is ours, so nobody is writing it.
            for left in scaled.parent.glob(f".{scaled.name}.*.tmp"):
                left.unlink()
            with atomic_file(scaled) as temporary:
                _write_scaled(_mapped(path), temporary, scale)
    except OSError as error:
        raise DataError(
            f"{scaled}: cannot be written ({error.strerror}); make room there, or set BENCH_CACHE to another folder"
        ) from error


def _write_scaled(source: np.memmap, target: Path, scale: _Scale) -> None:
    with NpyStream(target, source.shape[1:]) as stream:
        for view in _reads(source):
            block = np.array(view)
            scale(block)
            stream.append(block)


def _reads(windows: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    step = max(1, _BYTES_PER_READ // max(1, windows[:1].nbytes))
    return [windows[start : start + step] for start in range(0, len(windows), step)]
