"""``bench data`` through the command line: simulate, verify, prepare, fetch, export, import, and a run on it."""

import io
import json
import os
import pty
import re
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Bench
from tests.datasets.loopback_server import Answer, serving

pytestmark = pytest.mark.usefixtures("unreported")


def test_simulate_verify_prepare(bench: Bench, tmp_path: Path) -> None:
    made = bench("data", "simulate", "uci-har", "--data", "d", "--subjects", 4, "--seconds", 4)
    assert made.code == 0, made.err
    verified = bench("data", "verify", "uci-har", "--data", "d")
    assert verified.code == 1
    assert "uci-har: simulated" in verified.out
    prepared = bench("data", "prepare", "uci-har", "--data", "d")
    assert prepared.code == 0, prepared.err
    assert "(simulated); fingerprint" in prepared.out


def test_simulated_files_never_go_beside_others(bench: Bench, data: Path) -> None:
    done = bench("data", "simulate", "uci-har", "--data", data)
    assert done.code == 2
    assert "simulated files never go beside others" in done.err


def test_verify_names_what_is_missing(bench: Bench, data: Path) -> None:
    done = bench("data", "verify", "ptb", "--data", data)
    assert done.code == 1
    assert "bench data fetch ptb" in done.out


def test_verify_of_the_real_excerpts_is_truthful(bench: Bench, real: Path) -> None:
    done = bench("data", "verify", "apava", "weather", "uci-har", "--data", real)
    assert done.code == 1
    assert "apava: excerpt" in done.out
    assert "weather: whole" in done.out
    assert "3,350" in done.out


def test_exported_windows_come_back_and_train(bench: Bench, data: Path, tmp_path: Path) -> None:
    assert bench("data", "export", "uci-har", "exported", "--data", data).code == 0
    (tmp_path / "own").mkdir()
    imported = bench("data", "import", "exported", "--data", "own")
    assert imported.code == 0, imported.err
    assert "--datasets uci-har-windows" in imported.out
    done = bench(
        *("run", "--models", "transformer", "--datasets", "uci-har-windows", "--data", "own", "--out", "r"),
        *("--set", "split=stratified", *SMALL),
    )
    assert done.code == 0, done.err
    record = json.loads(next((tmp_path / "r").rglob("record.json")).read_text())
    assert record["data"]["kind"] == "simulated"


def test_imported_windows_can_be_prepared_and_verified_by_name(
    bench: Bench, data: Path, tmp_path: Path
) -> None:
    assert bench("data", "export", "uci-har", "exported", "--data", data).code == 0
    (tmp_path / "exported" / "SIMULATED.json").unlink()
    (tmp_path / "own").mkdir()
    assert bench("data", "import", "exported", "--data", "own").code == 0
    prepared = bench("data", "prepare", "uci-har-windows", "--data", "own")
    assert "(own); fingerprint" in prepared.out, prepared.err
    verified = bench("data", "verify", "uci-har-windows", "--data", "own")
    assert verified.code == 0, verified.out
    assert "uci-har-windows: own" in verified.out, verified.err
    assert "compared with nothing" in verified.out
    assert "published" not in verified.out.splitlines()[1]
    listed = bench("doctor", "--data", "own").out
    assert "uci-har-windows: prepared, " in listed


def test_clean_lists_asks_and_removes(bench: Bench, data: Path) -> None:
    assert bench("data", "prepare", "uci-har", "--data", data).code == 0
    asked = bench("data", "clean")
    assert asked.code == 1
    assert "in use, " in asked.out
    assert f"(from {data / 'uci-har'})" in asked.out
    assert "no prepared windows to remove" in bench("data", "clean", "--keep-current", "--yes").out
    assert bench("data", "clean", "uci-hra", "--yes").code == 2
    assert "removed 1 folders" in bench("data", "clean", "uci-har", "--yes").out


def test_fetch_shows_licence_and_size_and_asks(bench: Bench) -> None:
    done = bench("data", "fetch", "uci-har", "--data", "d")
    assert done.code == 1
    assert "licence: " in done.out
    assert "GB" in done.out
    assert "Start?" in done.out


def test_fetch_downloads_what_the_server_has(bench: Bench, tmp_path: Path) -> None:
    with serving() as site:
        site.answers["?zip="] = Answer(zip_of("preproctrials01.mat", "readme.txt"))
        address = ("--base-address", site.address)
        done = bench("data", "fetch", "apava", "--yes", "--data", "d", *address, NO_PROXY="127.0.0.1")
    assert done.code == 0, done.err
    assert "1 files, 0 of them were there already" in done.out
    assert sorted(path.name for path in (tmp_path / "d" / "apava").iterdir()) == [
        "FETCHED.json",
        "preproctrials01.mat",
    ]


def zip_of(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return buffer.getvalue()


def test_error_of_fetching_starts_a_line_below_the_bar(tmp_path: Path) -> None:
    with serving() as site:
        terminal, end = pty.openpty()
        done = subprocess.Popen(
            [
                *(sys.executable, "-m", "bench", "data", "fetch", "apava", "--yes", "--data", tmp_path),
                *("--base-address", site.address),
            ],
            env={**os.environ, "NO_PROXY": "127.0.0.1", "COLUMNS": "200"},
            cwd=Path(__file__).parents[2],
            stdout=subprocess.DEVNULL,
            stderr=end,
        )
        os.close(end)
        shown = read_all(terminal)
        assert done.wait(240) == 2
    assert "/130.0 MB" in shown
    assert re.search(r"\n(\x1b\[\?25h)?error: http://127\S+\?zip=: status 404 .*--base-address\s*$", shown)


def read_all(terminal: int) -> str:
    """Read what a program writes to a terminal, which is gone when the program ends."""
    parts = []
    with suppress(OSError):
        while part := os.read(terminal, 65_536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()


def test_an_unknown_dataset_cannot_be_fetched(bench: Bench) -> None:
    done = bench("data", "fetch", "uci-hra", "--yes")
    assert done.code == 2
    assert "Traceback" not in done.err
