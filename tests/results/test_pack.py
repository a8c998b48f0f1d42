"""A pack holds records, predictions and report, and shows when it was changed."""

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.cli.pack import command
from bench.errors import RecordError
from bench.results.pack import pack, verify_pack
from tests.report.grids import Grid, write_grid


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Two cells, one of them failed, with weights and a stale report beside them."""
    results = tmp_path / "results"
    failed = frozenset({("medmamba", "ptb", 42)})
    write_grid(results, Grid(models=("medmamba",), datasets=("ptb",), failed=failed))
    (results / "report" / "tables").mkdir(parents=True)
    (results / "report" / "index.html").write_text("page", encoding="utf-8")
    return results


def names_in(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as source:
        return source.namelist()


def rewrite(archive: Path, name: str, content: bytes | None) -> None:
    """Change, add or (None) remove one file of an archive."""
    with zipfile.ZipFile(archive) as source:
        files = {one: source.read(one) for one in source.namelist()}
    if content is None:
        del files[name]
    else:
        files[name] = content
    with zipfile.ZipFile(archive, "w") as target:
        for one, data in files.items():
            target.writestr(one, data)


def test_holds_records_predictions_logs_and_report_but_no_weights(out: Path, tmp_path: Path) -> None:
    packed = pack(out, out / "report", tmp_path / "pack.zip")
    names = names_in(packed.path)
    assert names[0] == "manifest.json"
    assert sorted(name.rsplit("/")[-1] for name in names[1:]) == [
        "index.html",
        "log.txt",
        "log.txt",
        "predictions.npz",
        "record.json",
        "record.json",
    ]
    assert (packed.n_cells, packed.n_files) == (2, 6)


def test_manifest_has_size_and_hash_of_every_file(out: Path, tmp_path: Path) -> None:
    packed = pack(out, out / "report", tmp_path / "pack.zip")
    with zipfile.ZipFile(packed.path) as source:
        manifest = json.loads(source.read("manifest.json"))
    assert sorted(manifest["files"]) == sorted(set(names_in(packed.path)) - {"manifest.json"})
    assert manifest["files"]["report/index.html"]["bytes"] == 4


def test_same_results_give_the_same_bytes(out: Path, tmp_path: Path) -> None:
    first, second = (pack(out, out / "report", tmp_path / name) for name in ("1.zip", "2.zip"))
    assert first.path.read_bytes() == second.path.read_bytes()


def test_an_archive_inside_the_report_does_not_pack_itself(out: Path) -> None:
    archive = out / "report" / "pack.zip"
    first = pack(out, out / "report", archive).sha256
    assert pack(out, out / "report", archive).sha256 == first


def test_a_whole_pack_verifies(out: Path, tmp_path: Path) -> None:
    packed = pack(out, out / "report", tmp_path / "pack.zip")
    assert verify_pack(packed.path) == packed.n_files


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("report/index.html", b"other", r"report/index\.html has SHA-256"),
        ("report/index.html", None, r"report/index\.html is missing"),
        ("report/new.html", b"new", r"report/new\.html is not in the manifest"),
        ("manifest.json", None, "not readable as a pack"),
        ("manifest.json", b"{}", "not readable as a pack"),
        ("manifest.json", b"[]", "not readable as a pack"),
    ],
)
def test_a_changed_pack_does_not(
    out: Path, tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    archive = pack(out, out / "report", tmp_path / "pack.zip").path
    rewrite(archive, name, content)
    with pytest.raises(RecordError, match=message):
        verify_pack(archive)


def test_predictions_that_are_not_the_records_are_refused(out: Path, tmp_path: Path) -> None:
    next((out / "cells").rglob("predictions.npz")).write_bytes(b"other")
    with pytest.raises(RecordError, match=r"predictions\.npz: differs from what its record names"):
        pack(out, out / "report", tmp_path / "pack.zip")
    assert not (tmp_path / "pack.zip").exists()


def test_damaged_records_are_refused(out: Path, tmp_path: Path) -> None:
    next((out / "cells").rglob("record.json")).write_text("{", encoding="utf-8")
    with pytest.raises(RecordError, match="not readable as a record"):
        pack(out, out / "report", tmp_path / "pack.zip")


def test_nothing_to_pack_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no record of a finished cell to pack"):
        pack(tmp_path, tmp_path / "report", tmp_path / "pack.zip")


def test_command_packs_a_report_of_these_records_and_verifies(out: Path, tmp_path: Path) -> None:
    archive = tmp_path / "pack.zip"
    packed = CliRunner().invoke(command, ["--out", str(out), "--archive", str(archive)])
    assert (packed.exit_code, "2 cells, " in packed.stdout) == (0, True)
    with zipfile.ZipFile(archive) as source:
        assert "PTB" in source.read("report/index.html").decode()
    verified = CliRunner().invoke(command, ["--verify", "--archive", str(archive)])
    assert "files, all as the manifest says" in verified.stdout


def test_command_gives_the_same_bytes_again(out: Path, tmp_path: Path) -> None:
    archives = [tmp_path / "1.zip", tmp_path / "2.zip"]
    for archive in archives:
        CliRunner().invoke(command, ["--out", str(out), "--archive", str(archive)], catch_exceptions=False)
    assert archives[0].read_bytes() == archives[1].read_bytes()
