"""``bench status``, ``bench clean`` and ``bench run --shard`` as a user meets them."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from bench.plan.request import make_request
from bench.run.resources import Resources
from bench.run.run_grid import execute
from tests.cli.conftest import SMALL, Bench
from tests.fixtures.registries import registered_for_now
from tests.run.conftest import OWN
from tests.run.test_parent import wait_for

pytestmark = pytest.mark.usefixtures("unreported")


def run_arguments(data: Path, *models: str) -> list[object]:
    return ["run", "--models", ",".join(models), "--datasets", "uci-har", "--data", data, "--out", "r"]


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with one finished and one failed cell."""
    out = tmp_path_factory.mktemp("filled") / "r"
    with registered_for_now(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_CACHE", str(out.with_name("cache")))
        request = make_request(
            models_text=f"{OWN}:Good,{OWN}:Raises",
            datasets_text="uci-har",
            seeds_text="41",
            preset_name="paper",
            recipe_name="medmamba",
            assignments=("epochs=2",),
        )
        execute(request, data, out, Resources(device="cpu", jobs=2))
    return out


@pytest.fixture
def filled(folder: Path, bench: Bench, tmp_path: Path) -> Bench:
    """The command line beside a copy of the filled folder."""
    shutil.copytree(folder, tmp_path / "r")
    return bench


def states(bench: Bench) -> Counter[str]:
    done = bench("status", "--out", "r", "--json")
    assert done.code == 0, done.err
    return Counter(json.loads(line)["state"] for line in done.out.splitlines())


def test_status_counts_done_and_failed_and_says_why(filled: Bench) -> None:
    done = filled("status", "--out", "r")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-2].split() == ["all", "1", "0", "1", "0"]
    assert "failed: own_models.Raises / uci-har / seed 41  Unpicklable: mistake 42" in done.out


def test_status_in_json_has_reasons_and_scores(filled: Bench) -> None:
    lines = [json.loads(line) for line in filled("status", "--out", "r", "--json").out.splitlines()]
    failed, done = sorted(lines, key=lambda line: line["state"] == "done")
    assert failed["reason"] == "Unpicklable: mistake 42"
    assert failed["scores"] == {}
    assert 0 < done["scores"]["test"]["accuracy"] <= 1
    assert done["scores"].keys() == {"validation", "test"}


def test_status_of_a_folder_without_a_run(bench: Bench, tmp_path: Path) -> None:
    assert bench("status", "--out", tmp_path).out.splitlines()[-1].split() == ["all", "0", "0", "0", "0"]


def test_status_during_a_run_and_after_its_death(bench: Bench, data: Path, tmp_path: Path) -> None:
    arguments = [
        *run_arguments(data, f"{OWN}:Good", f"{OWN}:Sleeps"),
        "--set",
        "epochs=2",
        "--seeds",
        "41,42",
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "bench", *map(str, arguments)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: len(list(tmp_path.glob("r/cells/*/*Sleeps/*/log.txt"))) == 1, "the sleeping cell")
        assert states(bench) == {"done": 1, "running": 1, "to do": 2}
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    wait_for(lambda: states(bench) == {"done": 1, "to do": 3}, "the workers to go")
    assert "1 begun; the next run continues after the last epoch of 0" in bench("status", "--out", "r").out


def test_a_cell_cleaned_is_to_do_again(filled: Bench, tmp_path: Path) -> None:
    done = filled("clean", "--out", "r", "--outcome", "failed", "--yes")
    assert done.code == 0, done.err
    assert "removed 1 cells" in done.out
    assert states(filled) == {"done": 1, "to do": 1}
    assert not list(tmp_path.glob("r/cells/*/*Raises/*"))


def test_a_file_with_another_hash_is_found_when_asked_and_can_be_cleaned(
    filled: Bench, tmp_path: Path
) -> None:
    (predictions,) = tmp_path.rglob("predictions.npz")
    predictions.write_bytes(b"other numbers")
    assert states(filled) == {"done": 1, "failed": 1}
    checked = [
        json.loads(line)["ending"]
        for line in filled("status", "--out", "r", "--check", "--json").out.splitlines()
    ]
    assert sorted(checked) == ["damaged", "failed"]
    done = filled("clean", "--out", "r", "--outcome", "damaged", "--yes")
    assert "removed 1 cells" in done.out


def test_status_tells_of_other_scores(filled: Bench, tmp_path: Path) -> None:
    (predictions,) = tmp_path.rglob("predictions.npz")
    (predictions.parent / "differs-1.json").write_text("{}")
    assert "another process found other scores: differs-1.json" in filled("status", "--out", "r").out


def test_clean_asks_first(filled: Bench) -> None:
    done = filled("clean", "--out", "r")
    assert done.code == 1
    assert "Remove these 2 cells with all their files?" in done.err
    assert states(filled) == {"done": 1, "failed": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--outcome", "faild"], "unknown outcome 'faild'. Did you mean 'failed'?"),
        (
            ["--models", "own_models.Goood"],
            "unknown model 'own_models.Goood'. Did you mean 'own_models.Good'?",
        ),
        (["--datasets", "ptb"], "unknown dataset 'ptb'"),
    ],
)
def test_clean_refuses_what_no_cell_is(filled: Bench, arguments: list[str], message: str) -> None:
    done = filled("clean", "--out", "r", "--yes", *arguments)
    assert done.code == 2
    assert message in done.err
    assert states(filled) == {"done": 1, "failed": 1}


def test_shards_share_out_the_grid(bench: Bench, data: Path) -> None:
    arguments = [*run_arguments(data, "transformer", "patchtst"), *SMALL, "--seeds", "41,42"]
    first = bench(*arguments, "--shard", "1/2")
    assert first.code == 0, first.err
    assert "2 trained, 0 already done" in first.err
    assert states(bench) == {"done": 2, "to do": 2}
    second = bench(*arguments, "--shard", "2/2")
    assert "2 trained, 0 already done" in second.err
    assert states(bench) == {"done": 4}


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/0"])
def test_a_shard_that_is_none_is_refused(bench: Bench, data: Path, text: str) -> None:
    done = bench(*run_arguments(data, "transformer"), "--shard", text)
    assert done.code == 2
    assert "expected I/N" in done.err
