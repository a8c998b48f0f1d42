"""Cuts a dataset's records into windows once, as a stream, in parallel, into the cache."""

import errno
import importlib.metadata
import multiprocessing
import shutil
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from bench.datasets.cache.copies import Copies
from bench.datasets.cache.entry import Entry, Located, locate, lock_of, manifest_of
from bench.datasets.cache.fingerprint import Fingerprint
from bench.datasets.cache.manifest import Excluded, Manifest, Skipped, SubjectSummary, write_manifest
from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceRecord, as_one_line
from bench.datasets.fetch.source_table import how_to_get
from bench.datasets.formats.npy_stream import NpyStream, save_array
from bench.datasets.provenance import provenance_of
from bench.datasets.registry import DatasetEntry, load_reader
from bench.datasets.registry import entry as dataset_entry
from bench.errors import DataError
from bench.files import DISK_FAULTS
from bench.locks import NO_LOCKS
from bench.process_pool import process_pool

LARGEST_SKIPPED_SHARE = 0.01
# What says nothing of a file: its disk is gone, or has no locks. A bad sector, EIO, is the file's.
_NOT_THE_FILE = (DISK_FAULTS | NO_LOCKS) - {errno.EIO, errno.EINVAL}
_KINDS = {"f": "float32", "iu": "whole numbers", "U": "text"}
_LIBRARIES = ("numpy", "scipy", "pandas", "wfdb", "mne", "h5py", "neurokit2")

Progress = Callable[[int, int], None]


def prepare(
    name: str,
    root: Path | str,
    *,
    jobs: int = 1,
    allow_skipped: bool = False,
    progress: Progress | None = None,
) -> Manifest:
    """Build the windows of a dataset unless they are there already.

    Parameters
    ----------
    name
        A registered dataset.
    root
        Folder with one sub-folder per dataset; only read.
    jobs
        Number of processes that read; the result is the same for any number.
    allow_skipped
        Accept more than 1 percent of damaged records.
    progress
        Called with the number of records done and their total.

    Raises
    ------
    DataError
        The folder is missing or unusable, too many records are damaged, or the cache cannot be written.
    """
    source = locate(name, root)
    manifest = manifest_of(source)
    if manifest is None:
        manifest = _build_once(source, jobs, allow_skipped, progress)
    refuse_damage(manifest, allow_skipped=allow_skipped)
    return manifest


def refuse_damage(manifest: Manifest, *, allow_skipped: bool) -> None:
    """Refuse prepared windows that lack more than 1 percent of the records, unless that is allowed.

    Raises
    ------
    DataError
        Too many records are damaged.
    """
    n_skipped = len(manifest.skipped)
    if allow_skipped or n_skipped <= LARGEST_SKIPPED_SHARE * manifest.n_listed:
        return
    reasons = "; ".join(skipped.reason for skipped in manifest.skipped[:3])
    raise DataError(
        f"{manifest.source_folder}: {n_skipped} of {manifest.n_listed} records are damaged, more than "
        f"{LARGEST_SKIPPED_SHARE:.0%}: {reasons}{'; ...' if n_skipped > 3 else ''}. Get the files again, or "
        "accept the loss with --allow-skipped"
    )


def _build_once(source: Located, jobs: int, allow_skipped: bool, progress: Progress | None) -> Manifest:
    """Build under a lock, in a folder that gets the entry's name only when it is complete."""
    final = source.entry.folder
    partial = final.with_name(f"{final.name}.partial")
    with ExitStack() as held:
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(lock_of(final))
        except OSError as error:
            raise DataError(
                f"{final.parent}: cannot be written ({error.strerror}); set BENCH_CACHE to another folder"
            ) from error
        # What is left half-done goes before the lock does.
        held.callback(shutil.rmtree, partial, ignore_errors=True)
        manifest = manifest_of(source)
        if manifest is not None:
            return manifest
        # What a killed process left: the lock is ours, so nobody is writing it.
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        manifest = _build(source, Entry(partial), jobs, progress)
        refuse_damage(manifest, allow_skipped=allow_skipped)
        _refuse_change(source)
        write_manifest(manifest, Entry(partial).manifest)
        # Only an entry without a manifest can be in the way.
        shutil.rmtree(final, ignore_errors=True)
        partial.rename(final)
        return manifest


@dataclass
class _Tally:
    """What is known of the windows so far, without the windows."""

    facts: DatasetFacts
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
    labels: list[np.ndarray] = field(default_factory=list)
    subject: list[np.ndarray] = field(default_factory=list)
    record: list[np.ndarray] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    without_windows: list[str] = field(default_factory=list)
    per_subject: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, source: SourceRecord, cut: Cut) -> None:
        if not len(cut.windows):
            self.without_windows.append(source.name)
            return
        self.fingerprint.add(cut)
        self.labels.append(cut.labels)
        self.subject.append(cut.subject)
        self.record.append(cut.record)
        self.remarks.extend(cut.remarks)
        names, owner = np.unique(cut.subject, return_inverse=True)
        pairs, counts = np.unique(np.stack([owner, cut.labels]), axis=1, return_counts=True)
        # A subject's place is that of the first window.
        for name in dict.fromkeys(map(str, cut.subject)):
            self.per_subject.setdefault(name, Counter())
        for (i, label), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            self.per_subject[str(names[i])][label] += count

    def subjects(self) -> tuple[SubjectSummary, ...]:
        return tuple(
            SubjectSummary(
                name=name,
                label=next(iter(counts)) if len(counts) == 1 else None,
                windows_per_class=tuple(counts[label] for label in range(self.facts.n_classes)),
            )
            for name, counts in self.per_subject.items()
        )


def _build(source: Located, entry: Entry, jobs: int, progress: Progress | None) -> Manifest:
    facts, sources = source.reader.FACTS, source.listing.records
    tally = _Tally(facts)
    shape = facts.n_times, facts.n_channels
    with NpyStream(entry.windows, shape) as stream, closing(_cuts(source, jobs)) as results:
        copies = Copies(getattr(source.reader, "KNOWN_COPIES", ()))
        for done, (record, result) in enumerate(zip(sources, results, strict=True), start=1):
            if isinstance(result, Cut) and len(result.windows):
                result = copies.reason(record.name, result) or result
            if isinstance(result, Cut):
                stream.append(result.windows)
                tally.add(record, result)
            else:
                tally.skipped.append(Skipped(record=record.name, reason=result))
            if progress is not None:
                progress(done, len(sources))
    if not stream.n_windows:
        first = f"; first: {tally.skipped[0].reason}" if tally.skipped else ""
        raise DataError(
            f"{source.folder}: no usable record of {len(sources)} listed{first}; {how_to_get(facts)}"
        )
    for path, parts in (
        (entry.labels, tally.labels),
        (entry.subject, tally.subject),
        (entry.record, tally.record),
    ):
        save_array(path, np.concatenate(parts))
    return _manifest(source, entry, tally)


def _manifest(source: Located, entry: Entry, tally: _Tally) -> Manifest:
    facts, subjects = tally.facts, tally.subjects()
    labels = np.concatenate(tally.labels)
    n_records = len(source.listing.records) - len(tally.skipped) - len(tally.without_windows)
    # No window from a sound record is the protocol at work too, such as PTB's limit on the distance of beats.
    empty = tuple((name, "gives no window by the protocol") for name in tally.without_windows)
    return Manifest(
        dataset=source.name,
        reader_revision=source.reader.REVISION,
        source_folder=str(source.folder.absolute()),
        source_stamp=source.stamp,
        fingerprint=tally.fingerprint.hexdigest(),
        n_windows=len(labels),
        n_times=facts.n_times,
        n_channels=facts.n_channels,
        n_listed=len(source.listing.records),
        n_records=n_records,
        class_names=facts.class_names,
        windows_per_class=tuple(np.bincount(labels, minlength=facts.n_classes).tolist())[: facts.n_classes],
        subjects=subjects,
        skipped=tuple(tally.skipped),
        remarks=(*tally.remarks, *_one_class(source.name, tally)),
        excluded=_excluded(source.listing.excluded + empty),
        provenance=provenance_of(
            facts,
            source.folder,
            is_own=dataset_entry(source.name).is_own,
            n_subjects=len(subjects),
            n_records=n_records,
            n_windows=len(labels),
            n_skipped=len(tally.skipped),
        ),
        libraries={name: importlib.metadata.version(name) for name in _LIBRARIES},
        files={path.name: path.stat().st_size for path in entry.arrays},
    )


def _one_class(name: str, tally: _Tally) -> Iterator[str]:
    """Caution where every model would score 100 percent of a user's windows, which cannot be split either."""
    classes = {label for counts in tally.per_subject.values() for label in counts}
    if len(classes) == 1 and dataset_entry(name).is_own:
        yield f"all windows are of class '{tally.facts.class_names[classes.pop()]}': each model would score 100 %"


def _excluded(pairs: tuple[tuple[str, str], ...]) -> tuple[Excluded, ...]:
    names_of: dict[str, list[str]] = defaultdict(list)
    for name, reason in pairs:
        names_of[reason].append(name)
    return tuple(
        Excluded(reason=reason, count=len(names), examples=tuple(names[:20]))
        for reason, names in names_of.items()
    )


def _refuse_change(source: Located) -> None:
    if locate(source.name, source.folder.parent).stamp != source.stamp:
        raise DataError(
            f"{source.folder}: files changed while they were read; prepare again when they no longer change"
        )


def _check(cut: Cut, facts: DatasetFacts, record: SourceRecord, where: Path | str) -> None:
    """Refuse what breaks the contract of a reader, and values that are not finite."""
    for name, kind in (("windows", "f"), ("labels", "iu"), ("subject", "U"), ("record", "U")):
        array = getattr(cut, name)
        what = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kind:
            raise DataError(
                f"{where}: cut() of record '{record.name}': {name} are {what}, expected {_KINDS[kind]}; fix the reader"
            )
    n = len(cut.windows)
    shape = (n, facts.n_times, facts.n_channels)
    lengths = {name: np.shape(getattr(cut, name)) for name in ("labels", "subject", "record")}
    problem = None
    if cut.windows.shape != shape or cut.windows.dtype != np.float32:
        problem = f"windows are {cut.windows.dtype} {cut.windows.shape}, expected float32 {shape}"
    elif set(lengths.values()) != {(n,)}:
        problem = f"shapes {lengths}, expected one entry for each of {n} windows"
    elif not set(cut.labels.tolist()) <= set(range(facts.n_classes)):
        problem = f"labels {sorted(set(cut.labels.tolist()))[:5]}, expected 0 to {facts.n_classes - 1}"
    if problem:
        raise DataError(f"{where}: cut() of record '{record.name}': {problem}; fix the reader")
    if not np.isfinite(cut.windows).all():
        raise DamagedRecord(f"{record.name}: values that are not finite")


def _cut_or_reason(dataset: DatasetEntry, folder: Path, record: SourceRecord) -> Cut | str:
    """Read one record, in whatever process; a damaged one gives its reason."""
    module = load_reader(dataset)
    try:
        cut = module.cut(folder, record)
        _check(cut, module.FACTS, record, getattr(module, "__file__", folder))
    except DamagedRecord as error:
        return str(error)
    except OSError as error:
        if error.errno in _NOT_THE_FILE:
            raise DataError(f"{folder}: {error.strerror}; reconnect the disk and run again") from error
        # A disk that fails while a library reads.
        return as_one_line(f"{record.name}: cannot be read ({error.strerror or error})")
    return cut


def _cuts(source: Located, jobs: int) -> Generator[Cut | str]:
    """Yield the result for each record in order, with at most two records in flight per process."""
    records, dataset = source.listing.records, dataset_entry(source.name)
    # A user's own file is not run in this process, unless this one only works for another.
    is_apart = dataset.path is None or multiprocessing.parent_process() is not None
    if jobs == 1 and is_apart:
        yield from (_cut_or_reason(dataset, source.folder, record) for record in records)
        return
    try:
        with process_pool(jobs) as pool:
            waiting: deque[Future[Cut | str]] = deque()
            upcoming = iter(records)
            for record in islice(upcoming, 2 * jobs):
                waiting.append(pool.submit(_cut_or_reason, dataset, source.folder, record))
            while waiting:
                yield waiting.popleft().result()
                for record in islice(upcoming, 1):
                    waiting.append(pool.submit(_cut_or_reason, dataset, source.folder, record))
    except BrokenProcessPool as error:
        raise DataError(
            f"{source.folder}: a reading process died, perhaps for lack of memory; use fewer --jobs"
        ) from error
