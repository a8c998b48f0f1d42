"""Compares a dataset's folder with what is published of it: counts, split, rate, channels, checksums."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.datasets.cache.entry import dataset_folder
from bench.datasets.cache.manifest import Manifest
from bench.datasets.cache.prepare import Progress, prepare
from bench.datasets.contract import DatasetFacts, Kind, as_one_line
from bench.datasets.declared import DECLARATION_NAME
from bench.datasets.fetch.source_table import (
    ChecksumList,
    FileTable,
    RemoteFile,
    listed_checksums,
    read_table,
    source,
)
from bench.datasets.fetch.source_table import names as source_names
from bench.datasets.formats.source_files import is_there, open_regular, read_regular, refused_as
from bench.datasets.registry import entry, facts, reader
from bench.datasets.simulate.marker import read_marker
from bench.datasets.simulate.shown import attainable_in
from bench.datasets.splits import PARTS, make_split, published_totals, published_windows
from bench.errors import DataError

CHECKSUM_FILES = ("SHA256SUMS.txt", "SHA256SUMS")
_NOTHING_PUBLISHED = (
    "your own data: nothing is published of it, so that its numbers were compared with nothing"
)


@dataclass(frozen=True)
class Finding:
    """One row of the table; ``agrees`` is None where nothing is published to compare with."""

    item: str
    expected: str
    found: str
    agrees: bool | None = None


@dataclass(frozen=True)
class VerifyReport:
    """What a folder holds, compared with the published dataset.

    ``kind`` is None where no window could be made; ``share`` is the part of the published windows that is there, None
    where it is not known. ``remarks`` name damaged and excluded records, one line each. ``is_own`` marks a user's own
    dataset, of which nothing is published.
    """

    dataset: str
    folder: Path
    kind: Kind | None
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()
    share: float | None = None
    is_own: bool = False

    @property
    def is_whole(self) -> bool:
        """Tell whether this is the whole published dataset or, of a user's own, whether no record is damaged."""
        return self.kind is not None and self.agrees if self.is_own else self.is_published

    @property
    def agrees(self) -> bool:
        """Tell whether nothing found contradicts what was expected."""
        return all(finding.agrees is not False for finding in self.findings)

    @property
    def is_published(self) -> bool:
        """Tell whether this is the whole published dataset and nothing contradicts it."""
        return self.kind == "whole" and self.agrees


def verify(name: str, root: Path | str, *, jobs: int = 1, progress: Progress | None = None) -> VerifyReport:
    """Read all of a dataset, prepare its windows if need be, and compare with what is published.

    Damaged records do not stop it: they are counted and named.

    Parameters
    ----------
    name
        A registered dataset.
    root
        Folder with one sub-folder per dataset; only read.
    jobs, progress
        As for `prepare`.

    Raises
    ------
    DataError
        There is no folder of this dataset.
    """
    folder = dataset_folder(name, root)
    checksums = tuple(_checksum_findings(name, folder))
    known = facts(name)
    if not known.class_names:
        return _verify_series(known, folder, checksums)
    try:
        manifest = prepare(name, root, jobs=jobs, allow_skipped=True, progress=progress)
    except DataError as error:
        return _without_windows(name, folder, str(error), checksums)
    found = manifest.provenance
    if entry(name).is_own:
        findings = (*_own_findings(known, manifest), *_split_findings(known, manifest))
        remarks = (_NOTHING_PUBLISHED, *_remarks(manifest))
        return VerifyReport(name, folder, found.kind, findings, remarks, is_own=True)
    findings = (*_count_findings(known, manifest), *_split_findings(known, manifest), *checksums)
    return VerifyReport(name, folder, found.kind, findings, tuple(_remarks(manifest)), found.share)


def _without_windows(name: str, folder: Path, problem: str, checksums: tuple[Finding, ...]) -> VerifyReport:
    """Report what the tables alone say, and why there are no windows."""
    known = facts(name)
    windows = Finding("windows", _number(known.n_windows), "0", False)
    try:
        listing = getattr(reader(name), "listed", reader(name).records)(folder)
    except DataError:
        return VerifyReport(name, folder, None, (windows, *checksums), (problem,))
    label_of = {record.subject: record.label for record in listing.records}
    counts = Counter(label_of.values())
    per_class = [counts[label] for label in range(known.n_classes)]
    findings = [
        Finding(
            "subjects listed",
            _number(known.n_subjects),
            _number(len(label_of)),
            len(label_of) == known.n_subjects,
        )
    ]
    if any(per_class):
        findings.append(Finding("subjects listed per class", "", _per_class(known, per_class)))
    return VerifyReport(name, folder, None, (*findings, windows, *checksums), (problem,))


def _count_findings(known: DatasetFacts, manifest: Manifest) -> Iterator[Finding]:
    found = manifest.provenance
    yield Finding(
        "subjects", _number(known.n_subjects), _number(found.n_subjects), found.n_subjects == known.n_subjects
    )
    yield Finding("records read", "", _number(found.n_records))
    yield Finding("damaged records", "0", _number(found.n_skipped), found.n_skipped == 0)
    agrees = None if known.n_windows is None else found.n_windows == known.n_windows
    yield Finding("windows", _number(known.n_windows), _number(found.n_windows), agrees)
    totals = published_totals(known.name)
    yield Finding(
        "windows per class",
        _per_class(known, totals) if totals else "",
        _per_class(known, manifest.windows_per_class),
        manifest.windows_per_class == totals if totals else None,
    )
    # A record that differs in what its reader checks is damaged, so that none of those read does.
    checked = {item: item in known.checked_in_files for item in ("rate", "channels")}
    seen = {True: f"so in all {found.n_records:,} records read", False: "not compared: taken as published"}
    for item, what, expected in (
        ("sampling rate of windows", "rate", f"{known.sampling_rate_hz:g} Hz"),
        ("channels in order", "channels", " ".join(known.channel_names)),
    ):
        yield Finding(item, expected, seen[checked[what]], True if checked[what] else None)


def _own_findings(known: DatasetFacts, manifest: Manifest) -> Iterator[Finding]:
    """Tell what a user's own dataset holds; only damage is held against it."""
    found = manifest.provenance
    yield Finding("subjects", "", _number(found.n_subjects))
    yield Finding("records read", "", _number(found.n_records))
    yield Finding("damaged records", "0", _number(found.n_skipped), found.n_skipped == 0)
    yield Finding("windows", "", _number(found.n_windows))
    yield Finding("windows per class", "", _per_class(known, manifest.windows_per_class))


def _split_findings(known: DatasetFacts, manifest: Manifest) -> Iterator[Finding]:
    try:
        split = make_split(manifest.dataset, manifest.subjects, kind=manifest.provenance.kind)
    except DataError as error:
        yield Finding("split", known.split_rule, str(error), False)
        return
    yield Finding("split", known.split_rule, split.origin)
    published = published_windows(known.name) or {}
    for part in PARTS:
        members = set(getattr(split, part))
        chosen = [subject for subject in manifest.subjects if subject.name in members]
        counts = [sum(column) for column in zip(*(part.windows_per_class for part in chosen), strict=True)]
        expected = published.get(part)
        yield Finding(
            f"{part} windows ({len(members)} subjects)",
            _per_class(known, expected) if expected else "",
            _per_class(known, counts),
            tuple(counts) == expected if expected else None,
        )


def _remarks(manifest: Manifest) -> Iterator[str]:
    if manifest.provenance.remark:
        yield f"from the folder's own {DECLARATION_NAME}: {manifest.provenance.remark}"
    scores = attainable_in(manifest.provenance.simulator)
    if scores:
        yield (
            "simulated: of single windows an ideal classifier is expected to reach "
            f"{100 * scores['accuracy']:.1f} percent accuracy and {100 * scores['f1']:.1f} percent macro F1"
        )
    for skipped in manifest.skipped:
        yield f"damaged: {skipped.record}: {skipped.reason}"
    yield from (f"noted: {remark}" for remark in manifest.remarks)
    for group in manifest.excluded:
        some = ", ".join(group.examples[:5]) + (", ..." if group.count > 5 else "")
        yield f"left out: {group.count}: {group.reason} ({some})"


def _verify_series(known: DatasetFacts, folder: Path, checksums: tuple[Finding, ...]) -> VerifyReport:
    """Compare a dataset that has a long series instead of classes and windows."""
    from bench.datasets import weather

    try:
        series = weather.series(folder)
    except DataError as error:
        rows = Finding("rows", _number(known.n_times), "0", False)
        return VerifyReport(known.name, folder, None, (rows, *checksums), (str(error),))
    n_rows = series.n_rows_in_file
    columns = len(series.channel_names)
    findings = (
        Finding("rows", _number(known.n_times), _number(n_rows), n_rows == known.n_times),
        Finding("columns", _number(known.n_channels), _number(columns), columns == known.n_channels),
        *checksums,
    )
    is_whole = all(finding.agrees is not False for finding in findings)
    kind = "simulated" if read_marker(folder) else "whole" if is_whole else "excerpt"
    return VerifyReport(
        known.name, folder, kind, findings, tuple(f"mended: {remark}" for remark in series.mended)
    )


def _checksum_findings(name: str, folder: Path) -> Iterator[Finding]:
    """Compare the files with the checksums that this package knows, and with the publisher's list in the folder."""
    content = source(name).content if name in source_names() else None
    if isinstance(content, FileTable):
        yield _compare_checksums(folder, "files known here", read_table(content.path), 0)
    if isinstance(content, ChecksumList) and content.sha256 and (folder / content.path).is_file():
        pinned = [RemoteFile(content.path, content.sha256)]
        yield _compare_checksums(folder, f"the list {content.path} itself", pinned, 0)
    for list_name in CHECKSUM_FILES:
        if (folder / list_name).is_file():
            with refused_as(DataError, folder / list_name):
                text = read_regular(folder / list_name).decode("utf-8", errors="replace")
            listed, wrong_lines = listed_checksums(text)
            yield _compare_checksums(folder, list_name, listed, len(wrong_lines))


def _compare_checksums(folder: Path, what: str, files: Sequence[RemoteFile], n_wrong_lines: int) -> Finding:
    """Compare the files that are there; what is absent is counted, not blamed."""
    known = [file for file in files if file.sha256 is not None]
    states = {file.path: _state(folder, file) for file in known}
    wrong = [path for path, state in states.items() if state == "differs"]
    n_present = sum(state != "absent" for state in states.values())
    found = f"{n_present - len(wrong)} agree, {len(states) - n_present} not here, {len(wrong)} differ"
    if wrong:
        found += f": {as_one_line(', '.join(wrong[:3]))}{', ...' if len(wrong) > 3 else ''}"
    if n_wrong_lines:
        found += f"; {n_wrong_lines} lines are not '<sha256> <file>'"
    agrees = None if not n_present and not n_wrong_lines else not wrong and not n_wrong_lines
    return Finding(f"checksums of {what}", f"{len(known) + n_wrong_lines} files", found, agrees)


def _state(folder: Path, file: RemoteFile) -> Literal["agrees", "absent", "differs"]:
    """Compare one file with its checksum; what is there and cannot be read differs."""
    path = folder / file.path
    if not is_there(path):
        return "absent"
    try:
        with open_regular(path) as content:
            return (
                "agrees" if hashlib.file_digest(content, "sha256").hexdigest() == file.sha256 else "differs"
            )
    except (OSError, ValueError):
        return "differs"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _per_class(known: DatasetFacts, counts: "tuple[int, ...] | list[int]") -> str:
    return ", ".join(f"{name} {count:,}" for name, count in zip(known.class_names, counts, strict=True))
