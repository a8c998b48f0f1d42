"""Recipe equal end to end: configurations are tried on training and validation part, the best is trained and tested."""

import json
from pathlib import Path

import pytest

from bench.datasets.contract import Dataset
from bench.run.cells import tune_cell
from bench.run.display import Display, Work, make_display
from tests.cli.conftest import Bench

GRID = (
    *("run", "--recipe", "equal", "--configurations", "2", "--datasets", "uci-har", "--device", "cpu"),
    *("--set", "epochs=1", "--set", "max_train_windows=32"),
)

pytestmark = pytest.mark.usefixtures("unreported")


def records(folder: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("cells/*/*/*/record.json"))]


def test_tries_then_trains_the_best_over_the_seeds(bench: Bench, data: Path, tmp_path: Path) -> None:
    command = (*GRID, "--models", "fcn,tcn", "--seeds", "41,42", "--data", data, "--out", "r")

    first = bench(*command)
    assert first.code == 0, first.err
    assert "8 trained, 0 already done" in first.err

    tried, tested = records(tmp_path / "r" / "tuning"), records(tmp_path / "r")
    assert len(tried) == len(tested) == 4
    assert all(record["metrics"] is None and not record["files"] for record in tried)
    for model in ("fcn", "tcn"):
        scores = {
            record["settings"]["candidate"]: record["validation"]["f1"]
            for record in tried
            if record["cell"]["model"] == model
        }
        for record in tested:
            if record["cell"]["model"] == model:
                tuned = record["settings"]["tuned"]
                assert (tuned["tried"], tuned["val_f1"]) == (2, max(scores.values()))
                assert scores[tuned["chosen"]] == tuned["val_f1"]
                origin = record["settings"]["origins"]["learning_rate"]
                assert origin.startswith(f"configuration {tuned['chosen']} of 2 tried")

    second = bench(*command)
    assert "0 trained, 8 already done" in second.err

    # One configuration of one model is tried again: nothing else is, as the same score comes of it.
    next(Path("r", "tuning", "cells", "uci-har", "tcn").rglob("record.json")).unlink()
    third = bench(*command)
    assert "1 trained, 7 already done" in third.err
    assert [record["settings"]["tuned"] for record in records(tmp_path / "r")] == [
        record["settings"]["tuned"] for record in tested
    ]

    # Among more configurations either the winner's records are told so, or another is trained.
    more = bench(*(part if part != "2" else "3" for part in command))
    assert more.code == 0, more.err
    assert {record["settings"]["tuned"]["tried"] for record in records(tmp_path / "r")} <= {2, 3}
    status = bench("status", "--out", "r")
    assert int(status.out.splitlines()[1].split()[1]) >= 10
    shown = bench("report", "--out", "r")
    assert shown.code == 0, shown.err
    assert "Configurations tried: 3 for each model" in Path("r", "report", "index.html").read_text()

    packed = bench("pack", "--out", "r", "--archive", "p.zip")
    assert packed.code == 0, packed.err


def test_cells_that_wait_for_a_choice_count_as_time_left(
    bench: Bench, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[float, float]] = []

    def noting(work: Work | None = None) -> Display:
        if work is not None:
            shown.append((sum(work.left.values()), work.n_windows_later))
        return make_display(work)

    monkeypatch.setattr("bench.run.run_grid.make_display", noting)
    done = bench(*GRID, "--models", "fcn", "--seeds", "41-43", "--data", data, "--out", "w")
    assert done.code == 0, done.err
    (tried, waiting), (trained, none) = shown
    assert (tried, waiting, none) == (pytest.approx(waiting * 2 / 3), pytest.approx(trained), 0.0)


def test_shards_hold_whole_models(bench: Bench, data: Path, tmp_path: Path) -> None:
    command = (*GRID, "--models", "fcn,tcn", "--seeds", "41,42", "--data", data)

    counts = [bench(*command, "--shard", f"{index}/2", "--out", f"s{index}") for index in (1, 2)]

    assert [("4 trained, 0 already done" in done.err) for done in counts] == [True, True], counts
    shards = [{r["cell"]["model"] for r in records(tmp_path / f"s{index}")} for index in (1, 2)]
    assert sorted(map(len, shards)) == [1, 1]
    assert shards[0] != shards[1]


def test_a_folder_of_results_never_shows_a_tried_configuration(
    bench: Bench, data: Path, tmp_path: Path
) -> None:
    bench(*GRID, "--models", "fcn", "--seeds", "41", "--data", data, "--out", "r")
    for path in Path("r", "tuning", "cells").rglob("record.json"):
        target = Path("r", path.relative_to("r/tuning"))
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)

    shown = bench("report", "--out", "r")

    assert shown.out.count("has no test scores, as it tried a configuration") + shown.err.count(
        "has no test scores, as it tried a configuration"
    )


def test_configurations_need_a_recipe_that_tries_them(bench: Bench, data: Path) -> None:
    refused = bench("run", "--recipe", "medmamba", "--configurations", "2", "--data", data)

    assert refused.code == 2
    assert "use --recipe equal" in refused.err


def test_trying_never_cuts_the_test_part(bench: Bench, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only training and validation subjects are ever asked for; run in this process, to see it."""
    from bench.cli import over_grid
    from bench.plan.data import check_all
    from bench.plan.grid import plan
    from bench.plan.request import make_request
    from bench.run.job import make_jobs
    from bench.run.resources import Resources

    request = make_request(
        models_text="fcn",
        datasets_text="uci-har",
        seeds_text="41",
        preset_name="paper",
        recipe_name="equal",
        assignments=("epochs=1", "max_train_windows=32"),
        configurations=2,
    )
    assert over_grid.has_all_models(request) is False
    bench("data", "prepare", "uci-har", "--data", data)
    manifests, _ = check_all(["uci-har"], data, skip_missing=False)
    prepared = {name: manifest for name, manifest in manifests.items() if manifest is not None}
    (first, *_) = plan(request, prepared, Path("r"))
    (job,) = make_jobs([first], data, Path("r"), Resources(), "cpu")
    asked: set[str] = set()
    indices = Dataset.indices

    def spy(self: Dataset, subjects: tuple[str, ...]) -> object:
        asked.update(subjects)
        return indices(self, subjects)

    monkeypatch.setattr(Dataset, "indices", spy)
    record, _ = tune_cell.tune_cell(job, lambda _: None)

    split = job.cell.data.split
    assert record.validation is not None
    assert asked == {*split.train, *split.validation}
    assert not asked & set(split.test)
