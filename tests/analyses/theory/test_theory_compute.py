"""The propositions as one analysis: what is checked with trained cells and without, and the command."""

from pathlib import Path

import pytest

from bench.analyses import store
from bench.analyses.theory import compute as theory
from bench.analyses.theory import optimal_mixer
from bench.analyses.theory.record import ANALYSIS, Check
from bench.models.medmamba import MedMamba
from bench.results.record import Record
from tests.analyses.contexts import context_for
from tests.analyses.test_commands import invoke, written
from tests.fixtures.trained_cells import Trained

SYMMETRIC = Check(number="5a", about="stand-in", claim="c", checked="d", on="e", result="f", verdict="holds")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the training of cores, which has tests of its own, and search for less long."""
    monkeypatch.setattr(theory, "check_symmetric_context", lambda: [SYMMETRIC])
    monkeypatch.setattr(optimal_mixer, "N_STEPS", 20)


@pytest.fixture
def folder(trained: Trained, tmp_path: Path) -> Path:
    """The trained cells in a folder that a test may write to."""
    (tmp_path / "cells").symlink_to(trained.out / "cells")
    return tmp_path


def test_without_trained_cells_the_first_is_not_checked(tmp_path: Path) -> None:
    record = theory.check_all(context_for(ANALYSIS, tmp_path, tmp_path), [])
    first = record.checks[0]
    assert (first.number, first.verdict) == ("1a", "not checked")
    assert "no trained model with channel mixing" in first.result
    assert [one.number for one in record.checks] == ["1a", "1b", "2a", "2b", "3a", "3b", "4", "5a"]


def test_trained_cells_are_looked_at_and_bring_their_covariances(folder: Path, trained: Trained) -> None:
    context = context_for(ANALYSIS, folder, trained.data)
    record = theory.check_all(context, [trained.with_dropout(0.1)])
    context.write(record)
    assert store.read(folder, ANALYSIS) == ([record], [])
    first, _, third = record.checks[:3]
    assert (first.about, first.verdict) == ("uci-har", "does not hold here")
    assert "seeds 41, 42" in first.on
    assert "training part of uci-har, simulated data" in third.on
    assert [one.dataset for one in record.cells] == ["uci-har"]


def one_channel(records: list[Record]) -> list[Record]:
    """Say that the cells were trained on one channel."""
    return [one.model_copy(update={"data": one.data.model_copy(update={"n_channels": 1})}) for one in records]


def test_one_channel_is_not_checked_and_stops_nothing(
    folder: Path, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theory, "load_trained", lambda *_: MedMamba(n_channels=1, n_times=64, n_classes=2))
    context = context_for(ANALYSIS, folder, trained.data)
    first, second, third = theory.check_all(context, [one_channel(trained.with_dropout(0.1))]).checks[:3]
    assert (first.number, first.about, first.verdict) == ("1a", "uci-har", "not checked")
    assert "one channel" in first.result
    assert second.verdict == "holds"
    assert "training part" not in third.on


def test_command_prints_every_part_of_every_check(folder: Path, trained: Trained) -> None:
    done = invoke("theory", "--out", folder, "--data", trained.data)
    for word in ("claim ", "checked ", "on ", "result ", "verdict "):
        assert done.output.count(f"\n  {word}") == 8
    assert written(folder, "theory") == {".tex", ".md", ".csv", ".json"}
    assert written(folder, "theory-1a-uci-har") == {".pdf", ".svg", ".png", ".txt"}
