"""Estimators on the command line: mixed with networks, a user's own, of installed packages; their records and keys."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.models import registry
from bench.report.cell_view import cell_view
from bench.report.commands import commands
from bench.report.contents import read_contents
from bench.results.record import Record
from tests.cli.conftest import Bench

MINE = '''
"""The nearest class mean, after as many prints as asked for."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestCentroid


class Mine(ClassifierMixin, BaseEstimator):
    def __init__(self, sharpness=1.0, random_state=None):
        self.sharpness = sharpness
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def decision_function(self, X):
        away = np.square(X[:, None] - self.means_).mean(axis=2)
        return -self.sharpness * away if len(self.classes_) > 2 else away[:, 0] - away[:, 1]
'''


SMALL = ["--seeds", "41", "--device", "cpu", "--set", "epochs=2"]
SMALL += ["--set", "batch_size=32", "--set", "d_model=16", "--set", "n_layers=1"]


def records(out: Path) -> dict[str, dict[str, Any]]:
    found = [json.loads(path.read_text()) for path in sorted(out.glob("cells/*/*/*/record.json"))]
    return {record["cell"]["model"]: record for record in found}


def grid(data: Path, models: str, *more: str) -> list[object]:
    return ["run", "--models", models, "--datasets", "uci-har", "--data", data, "--out", "r", *SMALL, *more]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.usefixtures("mine", "unreported")
def test_both_kinds_in_one_grid_with_their_report(bench: Bench, data: Path, tmp_path: Path) -> None:
    """Settings of epochs are for the network, and do not part the two; reports and packs do without weights."""
    models = "spectral,transformer,./mine.py:Mine,sklearn.naive_bayes:GaussianNB"
    first = bench(*grid(data, models))
    assert first.code == 0, first.err
    assert "4 trained" in first.err
    found = records(tmp_path / "r")
    assert set(found) == {"spectral", "transformer", "mine.Mine", "sklearn.GaussianNB"}
    spectral = Record.model_validate(found["spectral"])
    assert (spectral.outcome, spectral.fitted_state, spectral.history) == ("ok", None, ())
    assert set(spectral.files) == {"predictions.npz"}
    assert spectral.metrics is not None
    assert spectral.settings["training"] == {"max_train_windows": None}
    assert spectral.revisions["packages"].startswith("scikit-learn ")  # pyright: ignore[reportAttributeAccessIssue]
    (folder,) = (tmp_path / "r" / "cells" / "uci-har" / "spectral").iterdir()
    with np.load(folder / "predictions.npz") as predictions:
        assert len(predictions["logits"]) == spectral.metrics.test.n_windows
    contents = read_contents(tmp_path / "r")
    assert [len(suite.studies[0].groups) for suite in contents.suites] == [4]
    command = "\n".join(commands(contents.records))
    assert "sklearn.naive_bayes:GaussianNB" in command
    assert "./mine.py:Mine" in command
    assert all(cell_view(tmp_path / "r", record).score.startswith("F1 ") for record in contents.records)

    assert "0 trained, 4 already done" in bench(*grid(data, models)).err
    for command in (
        ["status", "--out", "r"],
        ["pack", "--out", "r", "--archive", "r.zip"],
        ["pack", "--verify", "--archive", "r.zip"],
        ["compare", "r", "r"],
    ):
        done = bench(*command)
        assert done.code == 0, (command, done.err)


def keys(bench: Bench, data: Path, models: str, *more: str) -> dict[str, str]:
    done = bench(*grid(data, models, "--dry-run", *more))
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines() if "seed 41" in line]
    return {words[0]: words[4] for words in lines}


def test_what_enters_an_estimators_key(bench: Bench, data: Path, mine: Path) -> None:
    """Parameters, data, source and draws of windows do; recipes, epochs and speed do not."""
    spectral, own = "spectral,transformer", "./mine.py:Mine"
    assert bench("data", "prepare", "uci-har", "--data", data).code == 0
    before, own_before = keys(bench, data, spectral), keys(bench, data, f"{own},transformer")
    assert keys(bench, data, spectral, "--recipe", "medformer")["spectral"] == before["spectral"]
    assert keys(bench, data, spectral, "--set", "epochs=9")["spectral"] == before["spectral"]
    assert (
        keys(bench, data, f"{own},transformer", "--set", "sharpness=1")["mine.Mine"]
        == own_before["mine.Mine"]
    )
    changes = ("n_bands=3", "normalisation=none", "max_train_windows=20", "split=fold 1/3")
    changed = [keys(bench, data, spectral, "--set", text)["spectral"] for text in changes]
    changed += [
        own_before["mine.Mine"],
        keys(bench, data, f"{own},transformer", "--set", "sharpness=2")["mine.Mine"],
    ]
    mine.write_text(MINE + "\n# other\n")
    changed.append(keys(bench, data, f"{own},transformer")["mine.Mine"])
    assert len({before["spectral"], *changed}) == len(changed) + 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--models", "minirokcet"], "unknown model 'minirokcet'. Did you mean 'minirocket'"),
        (["--models", "sklearn.svm:Svc"], "sklearn.svm: no class or function Svc"),
        (["--models", "no_such.x:Y"], "no module no_such; install"),
        (
            ["--models", "dummy", "--set", "epochs=3"],
            "--set epochs=3: dummy has no such setting: estimators are not",
        ),
        (["--models", "spectral", "--set", "n_band=3"], "Did you mean 'n_bands'"),
    ],
)
def test_a_mistake_is_one_line(bench: Bench, data: Path, words: list[str], message: str) -> None:
    done = bench("run", "--datasets", "uci-har", "--data", data, "--dry-run", "--out", "r", *words)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["efficiency", "--models", "dummy", "--datasets", "uci-har"],
        ["analyze", "missing-sensors", "--models", "dummy,spectral"],
        ["evaluate", "--model", "dummy", "--weights", "mine.py", "--dataset", "uci-har"],
    ],
    ids=lambda words: words[0],
)
def test_what_needs_weights_says_that_an_estimator_keeps_none(
    bench: Bench, data: Path, mine: Path, words: list[str]
) -> None:
    more = [] if words[0] == "efficiency" else ["--data", data]
    done = bench(*words, *more)
    assert done.code == 2
    assert "estimator" in done.err
    assert "name a network" in done.err


def test_groups_and_patterns_are_names(bench: Bench, data: Path) -> None:
    def chosen(models: str) -> list[str]:
        done = bench(
            "run", "--dry-run", "--models", models, "--datasets", "uci-har", "--data", data, "--seeds", "41"
        )
        assert done.code == 0, done.err
        return [line.split()[0] for line in done.out.splitlines() if "seed 41" in line]

    assert len(chosen("paper")) == 12
    assert chosen("paper") == chosen("all")
    assert chosen("classical") == ["dummy", "linear", "minirocket", "spectral"]
    assert not set(chosen("everything")) & set(registry.braindecode_names())
    assert set(chosen("everything")) == {*chosen("paper"), *chosen("beyond"), *chosen("classical")}
    assert set(chosen("variants")) >= {"medformer-latest", "medmamba-single-scale"}
    assert chosen("medmamba*,dummy") == [*sorted(n for n in chosen("medmamba*")), "dummy"]


def test_the_battery_checks_an_estimator(bench: Bench, mine: Path) -> None:
    good = bench("check-model", "./mine.py:Mine")
    assert good.code == 0, good.out
    assert "ok    clone" in good.out
    mine.with_name("bad.py").write_text(MINE.replace("self.classes_ =", "np.random.rand(); self.classes_ ="))
    bad = bench("check-model", "./bad.py:Mine")
    assert bad.code == 1
    assert "FAIL  global_randomness_is_left_alone" in bad.out


def test_plan_says_that_an_estimator_cannot_be_tried(bench: Bench, data: Path) -> None:
    done = bench("plan", "--models", "dummy", "--datasets", "uci-har", "--data", data, "--seeds", "41")
    assert done.code == 0, done.err
    assert "unknown until one such cell is done" in done.out
