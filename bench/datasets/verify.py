"""Compares a dataset's folder with what is published of it: counts, split, rate, channels, checksums."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from bench.datasets.cache import dataset_folder
from bench.datasets.contract import DatasetFacts
from bench.datasets.manifest import Manifest
from bench.datasets.prepare import Progress, prepare
from bench.datasets.registry import facts, names, reader
from bench.datasets.simulate.marker import read_marker
from bench.datasets.splits import PARTS, make_split, published_windows
from bench.errors import DataError

CHECKSUM_FILES = ("SHA256SUMS.txt", "SHA256SUMS")
_CHECKSUM_LINE = re.compile(r"([0-9a-fA-F]{64}) +[*]?(\S.*)")
_BYTES_PER_READ = 1 << 20


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

    ``kind`` is None where no window could be made. ``remarks`` name damaged and excluded records, one line each.
    """

    dataset: str
    folder: Path
    kind: Literal["whole", "excerpt", "simulated"] | None
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()

    @property
    def is_published(self) -> bool:
        """Tell whether this is the whole published dataset and nothing contradicts it."""
        return self.kind == "whole" and all(one.agrees is not False for one in self.findings)


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
    checksums = tuple(_checksum_findings(folder))
    if name not in names(all_only=True):
        return _verify_series(name, folder, checksums)
    try:
        manifest = prepare(name, root, jobs=jobs, allow_skipped=True, progress=progress)
    except DataError as error:
        return _without_windows(name, folder, str(error), checksums)
    known = facts(name)
    findings = (*_count_findings(known, manifest), *_split_findings(known, manifest), *checksums)
    return VerifyReport(name, folder, manifest.provenance.kind, findings, tuple(_remarks(manifest)))


def _without_windows(name: str, folder: Path, problem: str, checksums: tuple[Finding, ...]) -> VerifyReport:
    """Report what the tables alone say, and why there are no windows."""
    known = facts(name)
    windows = Finding("windows", _number(known.n_windows), "0", False)
    try:
        listing = getattr(reader(name), "listed", reader(name).records)(folder)
    except DataError:
        return VerifyReport(name, folder, None, (windows, *checksums), (problem,))
    label_of = {record.subject: record.label for record in listing.records}
    per_class = [list(label_of.values()).count(label) for label in range(known.n_classes)]
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
    yield Finding("windows per class", "", _per_class(known, manifest.windows_per_class))
    # Readers refuse a record of another rate, or with other channels or another order: it is then damaged.
    everywhere = f"so in all {found.n_records:,} records read"
    yield Finding("sampling rate of windows", f"{known.sampling_rate_hz:g} Hz", everywhere, True)
    yield Finding("channels in order", " ".join(known.channel_names), everywhere, True)


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
        chosen = [one for one in manifest.subjects if one.name in members]
        counts = [sum(column) for column in zip(*(one.windows_per_class for one in chosen), strict=True)]
        expected = published.get(part)
        yield Finding(
            f"{part} windows ({len(members)} subjects)",
            _per_class(known, expected) if expected else "",
            _per_class(known, counts),
            tuple(counts) == expected if expected else None,
        )


def _remarks(manifest: Manifest) -> Iterator[str]:
    for one in manifest.skipped:
        yield f"damaged: {one.record}: {one.reason}"
    for group in manifest.excluded:
        some = ", ".join(group.examples[:5]) + (", ..." if group.count > 5 else "")
        yield f"left out: {group.count}: {group.reason} ({some})"


def _verify_series(name: str, folder: Path, checksums: tuple[Finding, ...]) -> VerifyReport:
    """Compare a dataset that has a long series instead of classes and windows."""
    from bench.datasets import weather

    known = facts(name)
    try:
        series = weather.series(folder)
    except DataError as error:
        rows = Finding("rows", _number(known.n_times), "0", False)
        return VerifyReport(name, folder, None, (rows, *checksums), (str(error),))
    n_rows = series.n_rows_in_file
    columns = len(series.channel_names)
    findings = (
        Finding("rows", _number(known.n_times), _number(n_rows), n_rows == known.n_times),
        Finding("columns", _number(known.n_channels), _number(columns), columns == known.n_channels),
        *checksums,
    )
    is_whole = all(one.agrees is not False for one in findings)
    kind = "simulated" if read_marker(folder) else "whole" if is_whole else "excerpt"
    return VerifyReport(name, folder, kind, findings, tuple(f"mended: {one}" for one in series.mended))


def _checksum_findings(folder: Path) -> Iterator[Finding]:
    for list_name in CHECKSUM_FILES:
        if (folder / list_name).is_file():
            yield _compare_checksums(folder, list_name)


def _compare_checksums(folder: Path, list_name: str) -> Finding:
    """Compare the files that are there with the publisher's list; what is absent is counted, not blamed."""
    lines = (folder / list_name).read_text(encoding="utf-8", errors="replace").splitlines()
    listed = [one for one in map(_listed_checksum, lines) if one is not None]
    present = [(path, digest) for path, digest in listed if (folder / path).is_file()]
    wrong = [path for path, digest in present if _sha256(folder / path) != digest]
    found = f"{len(present) - len(wrong)} agree, {len(listed) - len(present)} not here, {len(wrong)} differ"
    if wrong:
        found += f": {', '.join(wrong[:3])}{', ...' if len(wrong) > 3 else ''}"
    if len(listed) < len(lines):
        found += f"; {len(lines) - len(listed)} lines are not '<sha256> <file>'"
    agrees = not wrong and len(listed) == len(lines)
    return Finding(f"checksums of {list_name}", f"{len(lines)} files", found, agrees)


def _listed_checksum(line: str) -> tuple[str, str] | None:
    """Return file and digest; None where the line is anything else or points out of the folder."""
    match = _CHECKSUM_LINE.fullmatch(line.strip())
    if match is None or PurePosixPath(match[2]).is_absolute() or ".." in PurePosixPath(match[2]).parts:
        return None
    return match[2], match[1].lower()


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_BYTES_PER_READ):
            digest.update(chunk)
    return digest.hexdigest()


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _per_class(known: DatasetFacts, counts: "tuple[int, ...] | list[int]") -> str:
    return ", ".join(f"{name} {count:,}" for name, count in zip(known.class_names, counts, strict=True))
