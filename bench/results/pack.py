"""One archive of a results folder: records, predictions and report with a manifest of checksums.

Weights, checkpoints and locks stay behind. The archive is a zip file with fixed dates and sorted names, so that the
same results give the same bytes. `manifest.json` comes first and maps each name to its size and SHA-256.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import __version__
from bench.errors import RecordError
from bench.files import atomic_file, sha256_of
from bench.results.record import Record
from bench.results.split_file import FOLDER as SPLITS
from bench.results.store import LOG, PREDICTIONS, RECORD, TUNING, CellFolder, read_all

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = 1

_DATE = (1980, 1, 1, 0, 0, 0)
_LEFT_BEHIND = {".safetensors", ".pt", ".tmp"}


@dataclass(frozen=True)
class Pack:
    """A written archive: its path, its numbers of cells and files, and its SHA-256."""

    path: Path
    n_cells: int
    n_files: int
    sha256: str


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
        There is no record, a record is damaged, or its predictions are absent or have another hash.
    """
    records, damaged = read_all(out)
    if damaged:
        raise damaged[0]
    if not records:
        raise RecordError(f"{out}: no record of a finished cell to pack; run 'bench run --out {out}' first")
    files = dict(_files(out, report, records, archive))
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
    """Check every file of an archive against its manifest; return the number of files.

    Raises
    ------
    RecordError
        The archive cannot be read, or a file is missing, added or changed.
    """
    try:
        with zipfile.ZipFile(archive) as source:
            expected = {
                name: entry["sha256"] for name, entry in json.loads(source.read(MANIFEST))["files"].items()
            }
            found = {name: source.read(name) for name in source.namelist() if name != MANIFEST}
    except (OSError, KeyError, ValueError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise RecordError(f"{archive}: not readable as a pack ({error}); pack the results again") from error
    for name in sorted(expected.keys() ^ found.keys()):
        state = "is missing" if name in expected else "is not in the manifest"
        raise RecordError(f"{archive}: {name} {state}; pack the results again")
    for name, content in found.items():
        digest = hashlib.sha256(content).hexdigest()
        if digest != expected[name]:
            raise RecordError(
                f"{archive}: {name} has SHA-256 {digest[:12]}..., the manifest {expected[name][:12]}...; "
                "pack the results again"
            )
    return len(found)


def _files(out: Path, report: Path, records: list[Record], archive: Path) -> Iterator[tuple[str, Path]]:
    """Yield name in the archive and path of every file, by name within each part."""
    for record in records:
        folder = CellFolder.of(out, record.cell, record.key)
        _require_predictions(folder, record)
        for name in (RECORD, PREDICTIONS, LOG):
            path = folder.path / name
            if path.is_file():
                yield path.relative_to(out).as_posix(), path
    for path in sorted((out / TUNING).glob(f"cells/*/*/*/{RECORD}")):
        yield path.relative_to(out).as_posix(), path
    for root, prefix in (
        (out / SPLITS, SPLITS),
        (out / "efficiency", "efficiency"),
        (out / "analyses", "analyses"),
        (report, "report"),
    ):
        for path in sorted(root.rglob("*")):
            is_ours = path.suffix not in _LEFT_BEHIND and path.resolve() != archive.resolve()
            if path.is_file() and not path.is_symlink() and is_ours:
                yield f"{prefix}/{path.relative_to(root).as_posix()}", path


def _require_predictions(folder: CellFolder, record: Record) -> None:
    expected = record.files.get(PREDICTIONS)
    if expected is None:
        return
    path = folder.predictions
    if not path.is_file() or sha256_of(path) != expected:
        state = "differs from" if path.is_file() else "is absent, unlike"
        raise RecordError(
            f"{path}: {state} what its record names; restore it, or remove the record to have the cell trained again"
        )


def _add(target: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    target.writestr(entry, content)
