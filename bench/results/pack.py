"""One archive of a results folder: records, predictions and report with a manifest of checksums.

Weights, checkpoints and locks stay behind. The archive is a zip file with fixed dates and sorted names, so that the
same results give the same bytes. `manifest.json` comes first and maps each name to its size and SHA-256.
"""

import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field

from bench import __version__
from bench.datasets.contract import as_one_line
from bench.datasets.fetch.archive import inside
from bench.datasets.formats.source_files import MOST_TEXT_BYTES
from bench.errors import RecordError
from bench.files import atomic_file, sha256_of
from bench.results.field_types import Count, Line, Size
from bench.results.frozen_model import FrozenModel
from bench.results.json_record import json_record_of
from bench.results.pack_archive import AGAIN, PackArchive, new_entry, opened
from bench.results.predictions import largest_of
from bench.results.record import SCHEMA, Record, Sha256
from bench.results.split_file import FOLDER as SPLITS
from bench.results.store import (
    CONTROLS,
    LOG,
    PREDICTIONS,
    RECORD,
    TUNING,
    CellFolder,
    read_all,
    require_place,
)

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = 1

_CELLS = re.compile(
    rf"cells/[^/]+/[^/]+/[^/]+/({re.escape(RECORD)}|{re.escape(PREDICTIONS)}|{re.escape(LOG)})"
)
_OTHERS = re.compile(rf"(efficiency|analyses|report|{SPLITS}|{TUNING}|{CONTROLS})/.+")
_LEFT_BEHIND = {".safetensors", ".pt", ".tmp"}


@dataclass(frozen=True)
class Pack:
    """A written archive: its path, its numbers of cells and files, and its SHA-256."""

    path: Path
    n_cells: int
    n_files: int
    sha256: str


class PackedFile(FrozenModel):
    """Size and hash of one file of an archive."""

    n_bytes: Count = Field(alias="bytes")
    sha256: Sha256


class Manifest(FrozenModel):
    """What an archive says of itself: its number of cells, and every file by its name in the archive."""

    schema_version: Literal[1] = Field(alias="schema")
    program: Line
    n_cells: Size
    files: dict[str, PackedFile] = Field(min_length=1)


def pack(out: Path, report: Path, archive: Path) -> Pack:
    """Write the archive of a results folder.

    Parameters
    ----------
    out
        Results folder.
    report
        Folder with the report of these records.
    archive
        The file to write; an earlier one is replaced.

    Raises
    ------
    RecordError
        There is no record, a record is damaged, its predictions are absent or have another hash, or a file has a name
        that no pack can hold.
    """
    records, damaged = read_all(out)
    if damaged:
        raise damaged[0]
    if not records:
        raise RecordError(f"{out}: no record of a finished cell to pack; run 'bench run --out {out}' first")
    files = dict(_files(out, report, records, archive))
    strange = next((path for name, path in files.items() if not _is_of_pack(name)), None)
    if strange is not None:
        raise RecordError(f"{as_one_line(str(strange))}: a name that no pack can hold; rename or remove it")
    manifest = {
        "schema": MANIFEST_SCHEMA,
        "program": f"medmamba-bench {__version__}",
        "n_cells": len(records),
        "files": {
            name: {"bytes": path.stat().st_size, "sha256": sha256_of(path)} for name, path in files.items()
        },
    }
    with atomic_file(archive) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as target:
        _add(target, MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
        for name, path in files.items():
            _add(target, name, path.read_bytes())
    return Pack(archive, len(records), len(files), sha256_of(archive))


def verify_pack(archive: Path) -> int:
    """Check every byte of an archive against its manifest and its records; return the number of files.

    What the records say of themselves is checked by `bench.plan.vouching`.

    Raises
    ------
    RecordError
        The archive cannot be read; a file is missing, added or changed; a count is wrong; a record is damaged or
        names other predictions; or there are bytes that belong to no file.
    """
    with opened(archive) as packed:
        manifest = _manifest(archive, packed)
        for name in sorted(manifest.files.keys() ^ (packed.entries.keys() - {MANIFEST})):
            state = "is missing" if name in manifest.files else "is not in the manifest"
            raise RecordError(f"{archive}: {as_one_line(name)} {state}; {AGAIN}")
        for name, expected in manifest.files.items():
            _require_hash(archive, name, expected, packed)
        _require_cells(archive, manifest, packed)
        packed.require_as_written()
    return len(manifest.files)


def _manifest(archive: Path, packed: PackArchive) -> Manifest:
    where = f"{archive}: not readable as a pack ({MANIFEST}"
    manifest = json_record_of(
        packed.read(MANIFEST, MOST_TEXT_BYTES), where, Manifest, schema=MANIFEST_SCHEMA, remedy=f"{AGAIN})"
    )
    for name in manifest.files:
        if not _is_of_pack(name):
            raise RecordError(f"{archive}: {as_one_line(name)} is no file of a pack; {AGAIN}")
    return manifest


def _is_of_pack(name: str) -> bool:
    return inside(name) is not None and bool(_CELLS.fullmatch(name) or _OTHERS.fullmatch(name))


def _require_hash(archive: Path, name: str, expected: PackedFile, packed: PackArchive) -> None:
    digest, n_bytes = hashlib.sha256(), 0
    for chunk in packed.chunks(name):
        digest.update(chunk)
        n_bytes += len(chunk)
        # A whole file is told by its hash; a huge one is not read on.
        if n_bytes > expected.n_bytes + len(chunk):
            break
    if digest.hexdigest() == expected.sha256 and n_bytes == expected.n_bytes:
        return
    found = f"SHA-256 {digest.hexdigest()[:12]}..." if n_bytes == packed.entries[name].file_size else "more"
    raise RecordError(
        f"{archive}: {name} has {found}, the manifest says {expected.n_bytes} bytes of SHA-256 "
        f"{expected.sha256[:12]}...; {AGAIN}"
    )


def _require_cells(archive: Path, manifest: Manifest, packed: PackArchive) -> None:
    """Refuse a wrong number of cells, and a record that is damaged, misplaced or names other predictions."""
    names = [name for name in manifest.files if _CELLS.fullmatch(name) and name.endswith(f"/{RECORD}")]
    if len(names) != manifest.n_cells:
        raise RecordError(
            f"{archive}: {len(names)} records, the manifest counts {manifest.n_cells} cells; {AGAIN}"
        )
    for name in names:
        where, content = f"{archive}: {name}", packed.read(name, MOST_TEXT_BYTES)
        record = json_record_of(content, where, Record, schema=SCHEMA, remedy=AGAIN)
        require_place(record, Path(name))
        there = manifest.files.get(str(PurePosixPath(name).with_name(PREDICTIONS)))
        if record.files.get(PREDICTIONS) != (there and there.sha256):
            raise RecordError(f"{where}: names other predictions than those beside it; {AGAIN}")
        if there and there.n_bytes > largest_of(record.data):
            raise RecordError(
                f"{where}: its predictions have {there.n_bytes} bytes, at most {largest_of(record.data)} are "
                f"expected; {AGAIN}"
            )


def cell_files(archive: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the name of each record, file of predictions and split in a verified archive, with its content.

    Raises
    ------
    RecordError
        The archive cannot be read.
    """
    with opened(archive) as packed:
        for name in packed.entries:
            is_split = name.startswith(f"{SPLITS}/")
            if is_split or (_CELLS.fullmatch(name) and not name.endswith(f"/{LOG}")):
                yield name, packed.chunks(name)


def _files(out: Path, report: Path, records: list[Record], archive: Path) -> Iterator[tuple[str, Path]]:
    """Yield name in the archive and path of every file, by name within each part."""
    for record in records:
        folder = CellFolder.of(out, record.cell, record.key)
        _require_predictions(folder, record)
        for name in (RECORD, PREDICTIONS, LOG):
            path = folder.path / name
            if path.is_file():
                yield path.relative_to(out).as_posix(), path
    for folder, name in ((TUNING, RECORD), (CONTROLS, RECORD), (CONTROLS, PREDICTIONS)):
        for path in sorted((out / folder).glob(f"cells/*/*/*/{name}")):
            yield path.relative_to(out).as_posix(), path
    for root, prefix in (
        (out / SPLITS, SPLITS),
        (out / "efficiency", "efficiency"),
        (out / "analyses", "analyses"),
        (report, "report"),
    ):
        for path in sorted(root.rglob("*")):
            is_plain = path.is_file() and not path.is_symlink() and path.suffix not in _LEFT_BEHIND
            if is_plain and path.resolve() != archive.resolve():
                yield f"{prefix}/{path.relative_to(root).as_posix()}", path


def _require_predictions(folder: CellFolder, record: Record) -> None:
    expected = record.files.get(PREDICTIONS)
    if expected is None:
        return
    path = folder.predictions
    if not path.is_file() or sha256_of(path) != expected:
        state = "differs from" if path.is_file() else "is absent, unlike"
        raise RecordError(
            f"{path}: {state} what its record names; restore it, or remove the record to train the cell again"
        )


def _add(target: zipfile.ZipFile, name: str, content: bytes) -> None:
    target.writestr(new_entry(name), content)
