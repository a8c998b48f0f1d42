"""``bench run`` end to end: it trains, reports, trains nothing twice, and refuses bad input whole."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import SMALL, Bench

TWO = """
name = "two"
title = "Two people"
class_names = ["rest", "move"]
channel_names = ["x"]
sampling_rate_hz = 16.0
"""


def records(out: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted(out.glob("cells/*/*/*/record.json"))]


def grid(data: Path, models: str, *, out: str = "r") -> list[object]:
    return ["run", "--models", models, "--datasets", "uci-har", "--data", data, "--out", out, *SMALL]


def test_trains_reports_and_trains_nothing_twice(
    bench: Bench, process: Bench, data: Path, tmp_path: Path
) -> None:
    """One run of two cells, and what the next runs make of its folder."""
    command = grid(data, "transformer,medmamba")
    first = process(*command)
    assert first.code == 0, first.err
    assert "2 trained, 0 already done" in first.err
    assert "not interpretable" in first.out
    assert "published" in first.out
    for record in records(tmp_path / "r"):
        assert record["outcome"] == "ok"
        assert record["data"]["kind"] == "simulated"
        assert len(record["history"]) == 2
    before = {path: path.read_bytes() for path in (tmp_path / "r" / "cells").rglob("*") if path.is_file()}

    second = bench(*command)
    assert second.code == 0, second.err
    assert "0 trained, 2 already done" in second.err
    assert {path: path.read_bytes() for path in before} == before

    # The same cell elsewhere, in another process of another fork server.
    again = bench(*grid(data, "medmamba", out="again"))
    assert "1 trained" in again.err
    for name in ("predictions.npz", "weights.safetensors"):
        (path,) = (tmp_path / "again" / "cells").rglob(name)
        assert before[tmp_path / "r" / path.relative_to(tmp_path / "again")] == path.read_bytes()

    # What a newer version has written is not touched.
    record = next((tmp_path / "r").rglob("record.json"))
    record.write_text(record.read_text().replace('"schema": 1', '"schema": 9'))
    newer = record.read_bytes()
    refused = bench(*command)
    assert refused.code == 2
    assert "schema 9 is newer" in refused.err
    assert record.read_bytes() == newer


def test_dry_run_shows_cells_and_trains_nothing(bench: Bench, data: Path, tmp_path: Path) -> None:
    done = bench("run", "--dry-run", "--models", "all", "--datasets", "uci-har", "--data", data, "--out", "r")
    assert done.code == 0, done.err
    assert "60 cells: 60 not prepared" in done.out
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "transformr"], "unknown model 'transformr'. Did you mean 'transformer'?"),
        (["--datasets", "ucihar"], "unknown dataset 'ucihar'. Did you mean 'uci-har'?"),
        (["--preset", "papper"], "unknown preset 'papper'. Did you mean 'paper'?"),
        (["--recipe", "medfomer"], "unknown recipe 'medfomer'. Did you mean 'medformer'?"),
        (["--set", "epoch=3"], "unknown setting 'epoch'. Did you mean 'epochs'?"),
        (["--set", "epochs=many"], "--set epochs='many'"),
        (["--seeds", "45-41"], "expected numbers and ranges"),
        (["--models", "./nowhere.py:Net"], "./nowhere.py: no such file"),
        (["--jobs", "0"], "'--jobs'"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    bench: Bench, data: Path, arguments: list, message: str
) -> None:
    done = bench("run", "--datasets", "uci-har", "--data", data, *arguments)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["rnu"], "command 'rnu'. Did you mean 'run'?"),
        (["analyze", "embeding"], "analyze command 'embeding'. Did you mean 'embedding'?"),
        (["analyze", "efficency"], "'efficency' is no command of bench analyze. Use 'bench efficiency'."),
    ],
)
def test_the_nearest_command_is_offered(bench: Bench, words: list[str], offered: str) -> None:
    done = bench(*words)
    assert done.code == 2
    assert offered in done.err


def test_every_missing_dataset_is_named(bench: Bench, data: Path, tmp_path: Path) -> None:
    done = bench(
        "run", "--models", "transformer", "--datasets", "ptb,apava,uci-har", "--data", data, "--out", "r"
    )
    assert done.code == 2
    assert "ptb:" in done.err
    assert "apava:" in done.err
    assert "bench data fetch" in done.err
    assert not list((tmp_path / "r").rglob("record.json"))


@pytest.mark.usefixtures("unreported")
def test_skip_missing_runs_the_rest(bench: Bench, data: Path) -> None:
    done = bench(
        *("run", "--models", "transformer", "--datasets", "ptb,uci-har", "--data", data, "--skip-missing"),
        *("--out", "r", *SMALL),
    )
    assert done.code == 0, done.err
    assert "skipped: ptb" in done.err
    assert "1 trained" in done.err


@pytest.mark.usefixtures("unreported")
def test_skip_missing_skips_what_cannot_be_split(bench: Bench, data: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "uci-har").symlink_to(data / "uci-har")
    draw = np.random.default_rng(1)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "dataset.toml").write_text(TWO)
    np.savez(
        tmp_path / "two" / "windows.npz",
        windows=draw.normal(size=(8, 32, 1)),
        labels=np.repeat([0, 1], 4),
        subject=np.repeat(["ann", "bob"], 4),
    )
    assert bench("data", "import", "two", "--data", "d").code == 0
    command = ("run", "--models", "transformer", "--datasets", "two,uci-har", "--data", "d", *SMALL)
    refused = bench(*command, "--out", "r")
    assert refused.code == 2
    assert "two: the train part of split 'stratified-41' is empty" in refused.err
    assert "run the others with --skip-missing" in refused.err
    done = bench(*command, "--out", "r", "--skip-missing")
    assert done.code == 0, done.err
    assert "skipped: two: the train part" in done.err
    assert "1 trained" in done.err
    shown = bench("run", "--dry-run", *command[1:], "--out", "r", "--skip-missing")
    assert "1 cells: 1 done" in shown.out


def test_a_damaged_table_is_one_line_and_nothing_is_written(bench: Bench, data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "uci-har", tmp_path / "d" / "uci-har")
    labels = next((tmp_path / "d").rglob("y_train.txt"))
    labels.write_text("99\n" * len(labels.read_text().splitlines()))
    done = bench(*grid(Path("d"), "transformer"))
    assert done.code == 2
    assert "y_train.txt" in done.err
    assert "Traceback" not in done.err
    assert not list((tmp_path / "r").rglob("record.json"))


def test_an_unwritable_results_folder_is_refused_before_training(
    bench: Bench, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    command = ["run", "--models", "transformer", "--datasets", "uci-har", "--data", data, *SMALL]
    done = bench(*command, "--out", "file/r")
    assert done.code == 2
    assert "cannot write to file/r" in done.err
    assert bench(*command, "--out", "file").code == 2


def test_explain_tells_where_each_value_comes_from(bench: Bench, data: Path) -> None:
    done = bench("explain", "--models", "medmamba", "--datasets", "uci-har", "--data", data, *SMALL[:-2])
    assert done.code == 0, done.err
    lines = {line.split()[0]: line.split()[1:] for line in done.out.splitlines() if line.strip()}
    assert lines["epochs"] == ["2", "--set"]
    assert lines["label_smoothing"][:3] == ["0.02", "recipe", "medmamba:"]
    assert lines["d_model"] == ["16", "--set"]
