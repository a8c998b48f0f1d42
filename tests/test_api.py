"""``import bench``: the examples of docs/python.md run as they stand, and say what the page says."""

import importlib
import json
import re
import subprocess
import sys
from functools import partial as partial_of
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import bench
from bench.cli.keywords import words
from bench.cli.run import command
from bench.datasets.simulate.cohort import simulate
from bench.errors import RecordError, UsageError

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES: dict[str, str] = dict(
    re.findall(r"^## [^\n]*: `bench\.(\w+)`$.*?^```python\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
)


@pytest.fixture
def folder(partial: Path, shared_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with results and a small simulated dataset where the examples look for them."""
    (tmp_path / "results").symlink_to(partial)
    simulate("uci-har", tmp_path / "DIR", n_subjects=4, seconds=4.0, seed=1)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_function_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(bench.__all__)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "run"])
def test_examples_are_short_and_run(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(EXAMPLES[name].splitlines()) <= 12
    exec(EXAMPLES[name], {"__name__": "__main__"})
    assert capsys.readouterr().out


def test_a_run_trains_and_returns_its_rows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.cli.run.render_and_print", lambda *_: None)
    (folder / "results").unlink()
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(EXAMPLES["run"], names)
    frame = names["frame"]
    assert isinstance(frame, pd.DataFrame)
    assert set(frame["outcome"]) == {"ok"}
    record = json.loads((Path(frame["folder"].tolist()[0]) / "record.json").read_text(encoding="utf-8"))
    assert record["settings"]["training"]["epochs"] == 1
    assert frame["value"].tolist() == pytest.approx(
        [record["metrics"][part][metric] for part, metric in zip(frame["part"], frame["metric"], strict=True)]
    )


SCRIPT = """
import sys
import bench
assert not {"numpy", "pandas", "torch", "click"} & sys.modules.keys()
frame = bench.results(sys.argv[1])
chosen = frame[(frame["dataset"] == "ptb") & (frame["part"] == "test") & (frame["model"] == "medmamba")]
scores = 100 * chosen.groupby("metric", sort=False)["value"].agg(["mean", "std"])
for mean, std in scores.itertuples(index=False):
    print(f"{mean:.2f}±{std:.2f}")
"""


def test_a_strangers_script_reproduces_numbers_of_the_page(
    partial: Path, reported: tuple[Path, Result]
) -> None:
    """It also shows that the import alone is light, and that a room not imported yet can be called."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(partial)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    page = (reported[0] / "index.html").read_text(encoding="utf-8")
    rows = re.findall(r'<th scope="row">medmamba</th>(.*?)</tr>', page, re.DOTALL)
    assert len(done.stdout.split()) == 6
    texts = [re.sub(r"<[^>]+>", "", row) for row in rows]
    assert any("".join(done.stdout.split()) in "".join(text.split()) for text in texts)


def test_rooms_stay_modules_and_can_be_called(partial: Path) -> None:
    for name in ("bench.results", "bench.run"):
        assert importlib.import_module(name) is getattr(bench, name.removeprefix("bench."))
        assert callable(sys.modules[name])
    assert len(bench.results(partial)) == 11 * 12
    with pytest.raises(AttributeError, match="module 'bench' has no attribute 'result'"):
        bench.result  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_predictions_are_those_of_the_row_however_it_is_given(partial: Path) -> None:
    frame = bench.results(partial)
    row = frame[(frame["part"] == "test") & (frame["metric"] == "accuracy")].iloc[0]
    found = bench.predictions(row)
    assert np.mean(found.predicted == found.label) == pytest.approx(row["value"])
    assert found.same_windows(bench.predictions(row["folder"]))
    assert found.same_windows(bench.predictions(next(iter(frame.itertuples()))))
    failed = frame[frame["outcome"] == "timeout"].iloc[0]
    with pytest.raises(RecordError, match=r"outcome timeout.* names no predictions.npz"):
        bench.predictions(failed)


def test_a_folder_without_records_or_with_a_damaged_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no record of a finished cell"):
        bench.results(tmp_path)
    cell = tmp_path / "cells" / "ptb" / "medmamba" / "x"
    cell.mkdir(parents=True)
    (cell / "record.json").write_text("{")
    with pytest.raises(RecordError, match=r"record\.json"):
        bench.results(tmp_path)


def test_parts_of_a_dataset_share_no_subject_and_follow_the_split(folder: Path) -> None:
    published = bench.load_dataset("uci-har", data="DIR", normalise=False)
    parts = (published.train, published.validation, published.test)
    subjects = [set(part.subject.tolist()) for part in parts]
    assert subjects == [
        set(published.split.train),
        set(published.split.validation),
        set(published.split.test),
    ]
    assert not subjects[0] & subjects[1] | subjects[0] & subjects[2] | subjects[1] & subjects[2]
    assert all(part.windows.shape == (len(part.labels), 128, 9) for part in parts)
    drawn = bench.load_dataset("uci-har", data="DIR", split="stratified", split_seed=3)
    assert drawn.split.origin == "stratified-3"
    assert drawn.normalisation == drawn.facts.normalisation != published.normalisation


def test_a_model_has_the_hyperparameters_published_for_a_dataset_unless_told_otherwise() -> None:
    build = partial_of(bench.build, "medmamba", n_channels=3, n_times=64, n_classes=2)
    layers = [
        sum(weight.numel() for weight in model.parameters())
        for model in (build(dataset="ptb-xl"), build(n_layers=3), build(), build(n_layers=4))
    ]
    assert layers[0] == layers[1] < layers[2] == layers[3]


@pytest.mark.parametrize(
    ("name", "keywords", "message"),
    [
        ("transformer", {"d_modle": 16}, r"unknown hyperparameter of transformer 'd_modle'.*'d_model'"),
        ("transformer", {"dataset": "ptb-xxl"}, "Did you mean 'ptb-xl'"),
        ("fcn,tcn", {}, "'fcn,tcn' stands for 2 models; name a single model"),
        ("./absent.py:Net", {}, r"absent\.py"),
    ],
)
def test_a_model_that_cannot_be_built_as_asked_is_refused(name: str, keywords: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        bench.build(name, 3, 64, 2, **keywords)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"models": ["medmamba", "fcn"], "seeds": range(41, 43)}, "--models medmamba,fcn --seeds 41,42"),
        ({"set": {"epochs": 2, "balance": True, "split": "fold 1/5"}}, None),
        ({"jobs": 2, "recipe": None, "fail_fast": True, "dry_run": False}, "--jobs 2 --fail-fast"),
        ({"efficiency": False, "ablation": True}, "--no-efficiency --ablation"),
        ({"data": Path("DIR"), "cell_timeout": 1.5}, "--data DIR --cell-timeout 1.5"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_keywords_become_the_words_of_a_command_line(given: dict, expected: str | None) -> None:
    if expected is None:
        wanted = ["--set", "epochs=2", "--set", "balance=true", "--set", "split=fold 1/5"]
    else:
        wanted = expected.split()
    assert list(words(command, given)) == wanted


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": 41}, r"unknown keyword of run 'seed'\. Did you mean 'seeds'\?"),
        ({"jobs": 0}, "'--jobs'"),
        ({"fail_fast": "yes"}, "--fail-fast: 'yes' is neither True nor False"),
        ({"models": "medmumba", "data": "nowhere"}, "Did you mean 'medmamba'"),
    ],
)
def test_keywords_that_cannot_be_used_are_named(given: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        bench.run(**given)
