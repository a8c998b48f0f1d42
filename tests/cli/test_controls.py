"""Controls end to end: shuffled labels are not learned, a leak past them is seen, and no result knows of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.datasets.simulate.cohort import simulate
from bench.results.store import read_all, read_controls
from tests.cli.conftest import Bench

# The labels that it learns from are those of the publisher's files, which no control changes.
LEAKY = '''
"""Looks its windows up in the files of the dataset, whatever it is told of their labels."""

from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

FOLDER = Path("{data}") / "uci-har" / "UCI HAR Dataset" / "train"


class Leaky(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        stored = np.loadtxt(FOLDER / "Inertial Signals" / "body_acc_x_train.txt")
        labels = np.loadtxt(FOLDER / "y_train.txt", dtype=int) - 1
        alike = courses(X.reshape(len(X), 9, -1)[:, 0]) @ courses(stored).T
        self.inner_ = LogisticRegression().fit(strength(X), labels[alike.argmax(axis=1)])
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(strength(X))


def courses(signals):
    return (signals - signals.mean(axis=1, keepdims=True)) / signals.std(axis=1, keepdims=True)


def strength(windows):
    channels = windows.reshape(len(windows), 9, -1)
    return np.hstack([channels.mean(axis=2), channels.std(axis=2)])
'''
GRID = ("run", "--datasets", "uci-har", "--seeds", "41", "--device", "cpu", "--out", "r")
SHUFFLED = ("--control", "shuffled-labels")


def f1_by_model(records: list[Any]) -> dict[str, float]:
    return {record.cell.model: record.metrics.test.f1 for record in records}


@pytest.fixture
def longer(tmp_path: Path) -> Path:
    """A simulated UCI-HAR with windows enough for a linear model to learn the classes."""
    simulate("uci-har", tmp_path / "data", n_subjects=8, seconds=12.0, seed=1)
    return tmp_path / "data"


@pytest.mark.usefixtures("unreported")
def test_what_is_learned_falls_to_chance_and_a_leak_does_not(
    bench: Bench, longer: Path, tmp_path: Path
) -> None:
    (tmp_path / "leaky.py").write_text(LEAKY.format(data=longer))
    command = (*GRID, "--models", "spectral,./leaky.py:Leaky", "--data", longer)
    assert bench(*command).code == 0
    before = {path: path.read_bytes() for path in sorted(Path("r").rglob("*.json"))}
    control = bench(*command, *SHUFFLED)
    assert "2 trained, 0 already done" in control.err
    assert "0 trained, 2 already done" in bench(*command, *SHUFFLED).err

    assert {path: path.read_bytes() for path in before} == before
    results, controls = (f1_by_model(read(tmp_path / "r")[0]) for read in (read_all, read_controls))
    assert results["spectral"] > 0.5
    assert controls["spectral"] < results["spectral"] - 0.3
    assert controls["leaky.Leaky"] == results["leaky.Leaky"] > 0.5
    assert "Trained on shuffled labels" in control.out
    assert "done" in bench("status", "--out", "r").out


@pytest.mark.usefixtures("unreported")
def test_a_network_trained_on_shuffled_labels_is_no_result(bench: Bench, data: Path, tmp_path: Path) -> None:
    small = ("--set", "epochs=1", "--set", "max_train_windows=32")
    done = bench(*GRID, "--models", "fcn", "--data", data, "--seeds", "41,42", *small, *SHUFFLED)
    assert done.code == 0, done.err
    assert read_all(tmp_path / "r") == ([], [])
    records, _ = read_controls(tmp_path / "r")
    assert [record.control for record in records] == ["shuffled-labels"] * 2
    # A record that is moved among the results is refused there, and a result among the controls.
    (tmp_path / "moved" / "cells").parent.mkdir()
    (tmp_path / "r" / "controls" / "cells").rename(tmp_path / "moved" / "cells")
    records, (first, _) = read_all(tmp_path / "moved")
    assert not records
    assert "is a control with shuffled-labels and no result; move it to controls/" in str(first)
    path = next((tmp_path / "moved").glob("cells/*/*/*/record.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"settings": _plain(path)}))
    (tmp_path / "moved" / "cells").rename(tmp_path / "r" / "controls" / "cells")
    records, (error,) = read_controls(tmp_path / "r")
    assert len(records) == 1
    assert "is no control; move it out of controls/" in str(error)


def _plain(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())["settings"] | {"control": None}


def test_the_probe_of_done_cells_is_a_table_of_its_own(bench: Bench, data: Path) -> None:
    small = ("--set", "epochs=1", "--set", "max_train_windows=32")
    where = ("--datasets", "uci-har", "--data", data, "--out", "r")
    assert bench(*GRID, "--models", "fcn", "--data", data, *small, "--no-efficiency").code == 0
    probed = bench("run", "--control", "subject-probe", "--models", "fcn", *where)
    assert "Training subjects recognised by a linear probe" in probed.out
    assert "| fcn" in Path("r/report/tables/subject-probe.md").read_text()
    seeds = bench("run", "--control", "subject-probe", "--seeds", "41", *where)
    assert (seeds.code, seeds.err.count("\n")) == (2, 1)
    assert "--seeds: has no effect with --control subject-probe" in seeds.err
    estimator = bench("run", "--control", "subject-probe", "--models", "spectral", *where)
    assert estimator.code == 2
    assert "neither layers nor features" in estimator.err
