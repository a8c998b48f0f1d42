"""`bench pack --verify` refuses, in one line, whatever it cannot vouch for."""

import json
import os
import random
import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.cli.pack import command
from bench.errors import RecordError
from bench.plan.vouching import vouch_for_pack
from bench.results.pack import pack, verify_pack
from bench.results.pack_archive import new_entry
from tests.report.grids import Grid, write_grid

NAME = "report/index.html"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of one cell and one page; only to be read."""
    folder = tmp_path_factory.mktemp("packed")
    write_grid(folder / "r", Grid(models=("transformer",), datasets=("ptb",), seeds=(41,), n_epochs=1))
    (folder / "report").mkdir()
    (folder / "report" / "index.html").write_text("page", encoding="utf-8")
    return pack(folder / "r", folder / "report", folder / "pack.zip").path


def contents(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as source:
        return {name: source.read(name) for name in source.namelist()}


def write(archive: Path, files: dict[str, bytes]) -> Path:
    """Write an archive as a pack is written, whatever it holds."""
    with zipfile.ZipFile(archive, "w") as target:
        for name, content in files.items():
            target.writestr(new_entry(name), content)
    return archive


Change = Callable[[dict[str, Any]], None]


def _of_manifest(**values: Any) -> Change:
    return lambda manifest: manifest.update(values)


def _of_file(**values: Any) -> Change:
    return lambda manifest: manifest["files"][NAME].update(values)


def _one_file_more(name: str) -> Change:
    return lambda manifest: manifest["files"].update({name: manifest["files"][NAME]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_of_manifest(schema=2), "schema 2 is newer than this version's 1; upgrade"),
        (_of_manifest(schema=0), "field 'schema'"),
        (_of_manifest(n_cells=2), "1 records, the manifest counts 2 cells"),
        (_of_manifest(n_cells=0), "field 'n_cells'"),
        (_of_manifest(files={}), "field 'files'"),
        (_of_manifest(more=1), "field 'more'"),
        (_of_file(sha256=None), r"field 'files.report/index\.html\.sha256'"),
        (_of_file(bytes=-4), r"field 'files.report/index\.html\.bytes'"),
        (_of_file(bytes=5), "the manifest says 5 bytes"),
        (_one_file_more("report/absent.html"), r"report/absent\.html is missing"),
        (_one_file_more("../climbed"), "is no file of a pack"),
        (_one_file_more("cells/a/weights.pt"), "is no file of a pack"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    packed: Path, tmp_path: Path, change: Change, message: str
) -> None:
    files = contents(packed)
    manifest = json.loads(files["manifest.json"])
    change(manifest)
    files["manifest.json"] = (json.dumps(manifest, indent=1) + "\n").encode()
    with pytest.raises(RecordError, match=message) as caught:
        verify_pack(write(tmp_path / "pack.zip", files))
    assert str(caught.value).isprintable()


def test_an_empty_pack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"not readable as a pack \(no manifest\.json\)"):
        verify_pack(write(tmp_path / "pack.zip", {}))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"metrics": None}, "field 'metrics|as a whole"),
        ({"files": {}}, "outcome ok, but no predictions"),
        ({"key": "0" * 64}, r"is the record of cells/ptb/transformer/published-s41-000000000000"),
    ],
)
def test_a_record_that_does_not_fit_its_pack_is_refused(
    packed: Path, tmp_path: Path, value: dict[str, Any], message: str
) -> None:
    files = contents(packed)
    (name,) = [name for name in files if name.endswith("record.json")]
    files[name] = json.dumps(json.loads(files[name]) | value).encode()
    with pytest.raises(RecordError, match=message):
        verify_pack(write(tmp_path / "pack.zip", _with_manifest(files)))


def test_a_score_that_is_not_that_of_the_predictions_is_refused(packed: Path, tmp_path: Path) -> None:
    files = contents(packed)
    (name,) = [name for name in files if name.endswith("record.json")]
    record = json.loads(files[name])
    record["metrics"]["test"]["accuracy"] = 0.99
    files[name] = json.dumps(record).encode()
    archive = write(tmp_path / "pack.zip", _with_manifest(files))
    assert verify_pack(archive) == len(files) - 1
    result = CliRunner().invoke(command, ["--verify", "--archive", str(archive)])
    assert isinstance(result.exception, RecordError)
    assert "metrics.test.accuracy is 0.99, but 0." in str(result.exception)


def _with_manifest(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return files with a manifest that fits them."""
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = {
        name: {"bytes": len(content), "sha256": sha256(content).hexdigest()}
        for name, content in files.items()
        if name != "manifest.json"
    }
    return {"manifest.json": json.dumps(manifest).encode()} | {
        name: files[name] for name in manifest["files"]
    }


def test_any_changed_byte_is_refused(packed: Path, tmp_path: Path) -> None:
    whole, archive, chance = packed.read_bytes(), tmp_path / "pack.zip", random.Random(1)
    directory = range(whole.index(b"PK\x01\x02"), len(whole))
    for place in {*range(0, 60, 3), *directory[::5], *(chance.randrange(len(whole)) for _ in range(40))}:
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        archive.write_bytes(changed)
        with pytest.raises(RecordError) as caught:
            verify_pack(archive)
        assert str(caught.value).isprintable(), place


def _before(whole: bytes) -> bytes:
    return b"#!/bin/sh\n" + whole


def _after(whole: bytes) -> bytes:
    return whole + b"more"


def _comment(whole: bytes) -> bytes:
    return whole[:-2] + struct.pack("<H", 4) + b"more"


def _half(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def _nothing(whole: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("change", [_before, _after, _comment, _half, _nothing])
def test_bytes_beside_the_files_are_refused(
    packed: Path, tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    archive = tmp_path / "pack.zip"
    archive.write_bytes(change(packed.read_bytes()))
    with pytest.raises(RecordError, match="not readable as a pack"):
        verify_pack(archive)


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [
        (8, b"\x01\x00", "'manifest.json' is encrypted"),
        (10, b"\x0e\x00", "'manifest.json' is compressed by method 14"),
        (24, b"\xff\xff\xff\x7f", "'manifest.json': 2147483647 bytes in"),
    ],
)
def test_an_entry_that_asks_for_more_is_refused(
    packed: Path, tmp_path: Path, offset: int, value: bytes, message: str
) -> None:
    content = bytearray(packed.read_bytes())
    start = content.index(b"PK\x01\x02") + offset
    content[start : start + len(value)] = value
    (tmp_path / "pack.zip").write_bytes(content)
    with pytest.raises(RecordError, match=message):
        verify_pack(tmp_path / "pack.zip")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_occurs_twice_is_refused(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "pack.zip").write_bytes(packed.read_bytes())
    with zipfile.ZipFile(tmp_path / "pack.zip", "a") as target:
        target.writestr(new_entry(NAME), b"page")
    with pytest.raises(RecordError, match=f"'{NAME}' occurs twice"):
        verify_pack(tmp_path / "pack.zip")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pack.zip")
    with pytest.raises(RecordError, match="is a pipe or a device"):
        verify_pack(tmp_path / "pack.zip")


def test_a_page_that_inflates_is_not_read_on(packed: Path, tmp_path: Path) -> None:
    files = contents(packed)
    files[NAME] = bytes(2**26)
    with pytest.raises(RecordError, match=r"report/index\.html has more, the manifest says 4 bytes"):
        verify_pack(write(tmp_path / "pack.zip", files))


def test_a_whole_pack_is_vouched_for(packed: Path) -> None:
    vouched = vouch_for_pack(packed)
    assert (vouched.n_files, len(vouched.cells)) == (4, 1)
