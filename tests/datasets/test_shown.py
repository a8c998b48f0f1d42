"""What simulated stretches show, and that nobody can be expected to score more than an oracle that sees it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bench import datasets
from bench.datasets.simulate.marker import read_marker
from bench.datasets.simulate.shown import DOUBT, RUN, attainable, attainable_in, draw_shown


def test_each_run_has_one_stretch_of_another_class() -> None:
    labels = np.repeat(np.arange(3), 4 * RUN)
    shown = draw_shown(np.random.default_rng(0), labels, 3)
    assert ((shown != labels).reshape(-1, RUN).sum(axis=1) == 1).all()
    assert set(shown) == {0, 1, 2}


def test_a_shorter_run_is_in_doubt_as_often_as_it_is_long() -> None:
    generator, labels = np.random.default_rng(0), np.zeros(4, dtype=np.int64)
    doubtful = [int((draw_shown(generator, labels, 2) != labels).sum()) for _ in range(4000)]
    assert np.mean(doubtful) == pytest.approx(4 * DOUBT, abs=0.03)


@pytest.mark.parametrize("counts", [(500, 500), (3000, 600, 500, 400, 300)])
def test_attainable_scores_are_the_oracles(counts: tuple[int, ...]) -> None:
    from sklearn.metrics import accuracy_score, f1_score

    labels = np.repeat(np.arange(len(counts)), 20 * np.array(counts))
    shown = draw_shown(np.random.default_rng(1), labels, len(counts))
    expected = attainable(counts)
    assert accuracy_score(labels, shown) == pytest.approx(expected["attainable_accuracy"], abs=0.002)
    assert f1_score(labels, shown, average="macro") == pytest.approx(expected["attainable_f1"], abs=0.005)


@pytest.mark.parametrize("name", datasets.names(all_only=True))
def test_every_simulator_notes_what_is_attainable(name: str, simulated: Callable[[str], Path]) -> None:
    marker = read_marker(simulated(name) / name)
    assert marker is not None
    scores = attainable_in(marker)
    assert set(scores) == {"accuracy", "f1"}
    assert 0.8 < scores["f1"] <= scores["accuracy"] == pytest.approx(1 - DOUBT)


def test_older_markers_note_nothing() -> None:
    assert attainable_in({"simulator": "ptb", "seed": 3}) == {}
