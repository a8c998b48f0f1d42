"""``bench data`` through the command line: simulate, verify, prepare, export, import, and a run on the import."""

import json
from pathlib import Path

from tests.cli.conftest import SMALL, Bench


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
    assert "uci-har-windows: own" in verified.out, verified.err


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


def test_an_unknown_dataset_cannot_be_fetched(bench: Bench) -> None:
    done = bench("data", "fetch", "uci-hra", "--yes")
    assert done.code == 2
    assert "Traceback" not in done.err
