"""What features separate, against hand-computed values; which windows are drawn; the command."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bench.analyses import store
from bench.analyses.embedding.compute import (
    analyse_cells,
    constant_from_others,
    draw_windows,
    features_of,
    make_map,
    neighbour_accuracy,
    perplexity_for,
    silhouette,
)
from bench.analyses.embedding.record import ANALYSIS
from bench.analyses.trained import load_trained
from bench.analyses.trained import test_part as part_for_test
from bench.errors import RecordError
from bench.train.evaluate import predict
from bench.train.part import Part
from tests.analyses.contexts import context_for
from tests.analyses.test_commands import invoke, written
from tests.fixtures.trained_cells import Trained


def distances_of(points: list[float]) -> np.ndarray:
    return np.abs(np.subtract.outer(points, points))


# Two persons of class 0, far apart, one of class 1 beside the first; two windows each.
POINTS = [0.0, 0.1, 10.0, 10.1, 1.0, 1.1]
CLASSES = np.array([0, 0, 0, 0, 1, 1])
SUBJECTS = np.array(["a", "a", "b", "b", "c", "c"])
OTHERS = SUBJECTS[:, None] != SUBJECTS


def test_own_windows_make_neighbours_look_better_than_others_do() -> None:
    distances = distances_of(POINTS)
    from_all = neighbour_accuracy(distances, CLASSES, ~np.eye(6, dtype=bool), 1)
    from_others = neighbour_accuracy(distances, CLASSES, OTHERS, 1)
    assert (from_all, from_others) == (1.0, 0.0)


def test_equal_votes_go_to_the_nearer() -> None:
    allowed = np.array([[False, True, True], [False] * 3, [False] * 3])
    labels = np.array(["x", "x", "y"])
    assert neighbour_accuracy(distances_of([0.0, 1.0, 2.0]), labels, allowed, 2) == 1.0
    assert neighbour_accuracy(distances_of([0.0, 2.0, 1.0]), labels, allowed, 2) == 0.0


def test_windows_without_allowed_neighbours_are_left_out() -> None:
    nobody = np.zeros((2, 2), dtype=bool)
    assert neighbour_accuracy(distances_of([0.0, 1.0]), np.array([0, 1]), nobody, 3) is None


def test_silhouette_by_hand() -> None:
    # For 0: within 1, between (10 + 11) / 2; for 1: within 1, between (9 + 10) / 2; the others mirror them.
    expected = ((1 - 1 / 10.5) + (1 - 1 / 9.5)) / 2
    found = silhouette(distances_of([0.0, 1.0, 10.0, 11.0]), np.array([0, 0, 1, 1]))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_no_silhouette_where_nothing_is_to_be_told_apart(labels: list[int]) -> None:
    assert silhouette(distances_of([0.0, 1.0, 2.0]), np.array(labels)) is None


def test_constant_from_others_by_hand() -> None:
    classes = np.array([0, 0, 0, 1, 1])
    subjects = np.array(["a", "b", "c", "d", "e"])
    # Of the others most have class 0 for d and e (3 of 4); for a, b, c it is two against two, the first seen wins.
    assert constant_from_others(classes, subjects) == pytest.approx(3 / 5)


def cohort(n_subjects: int, n_windows: int) -> Part:
    """Every third subject has class 1."""
    subject = np.repeat([f"s{number:03d}" for number in range(n_subjects)], n_windows)
    labels = np.repeat((np.arange(n_subjects) % 3 == 0).astype(np.int64), n_windows)
    return Part(np.zeros((len(subject), 2, 1), np.float32), labels, subject, np.arange(len(subject)))


def test_many_subjects_are_drawn_whole_and_in_proportion() -> None:
    drawn = draw_windows(cohort(90, 10), 300, np.random.default_rng(0))
    names, counts = np.unique(drawn.part_subjects, return_counts=True)
    assert (len(names), set(counts)) == (30, {10})
    assert drawn.part_labels.mean() == pytest.approx(1 / 3)


def test_few_subjects_bring_equal_shares() -> None:
    drawn = draw_windows(cohort(6, 100), 120, np.random.default_rng(0))
    assert np.unique(drawn.part_subjects, return_counts=True)[1].tolist() == [20] * 6


def test_draw_is_of_the_generator_alone() -> None:
    first, again, other = (
        draw_windows(cohort(9, 20), 60, np.random.default_rng(seed)).rows for seed in (0, 0, 1)
    )
    assert first.tolist() == again.tolist() != other.tolist()


@pytest.mark.parametrize(("n_windows", "expected"), [(1500, 30.0), (31, 10.0)])
def test_perplexity_needs_three_times_as_many_windows(n_windows: int, expected: float) -> None:
    assert perplexity_for(n_windows) == expected


def test_map_keeps_far_groups_apart_and_repeats() -> None:
    generator = np.random.default_rng(0)
    features = np.concatenate([generator.normal(size=(20, 60)), 30 + generator.normal(size=(20, 60))])
    first, again = make_map(features), make_map(features)
    np.testing.assert_array_equal(first, again)
    centres = first[:20].mean(0), first[20:].mean(0)
    assert np.linalg.norm(centres[0] - centres[1]) > 2 * first[:20].std()


@pytest.fixture
def folder(trained: Trained, tmp_path: Path) -> Path:
    """The trained cells in a folder that a test may write to."""
    (tmp_path / "cells").symlink_to(trained.out / "cells")
    return tmp_path


def test_record_survives_its_file_and_has_a_number_per_seed(folder: Path, trained: Trained) -> None:
    context = context_for(ANALYSIS, folder, trained.data)
    record = analyse_cells(context, trained.with_dropout(0.1), 60)
    context.write(record)
    assert store.read(folder, ANALYSIS) == ([record], [])
    assert [one.seed for one in record.seeds] == [41, 42]
    assert record.n_features == 16
    assert record.n_windows <= 60


def test_features_are_those_before_the_classifier(trained: Trained) -> None:
    record = trained.records[0]
    part, model = part_for_test(record, trained.data), load_trained(trained.out, record)
    logits = model.get_submodule("head.projection")
    with torch.inference_mode():
        found = logits(torch.from_numpy(features_of(model, part, record.cell.seed))).numpy()
    np.testing.assert_allclose(found, predict(model, part, 16, record.cell.seed), atol=1e-5)


def test_equal_features_are_refused(folder: Path, trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bench.analyses.embedding.compute.features_of", lambda _m, part, _s: np.ones((len(part), 3))
    )
    with pytest.raises(RecordError, match="seed 41, gives all windows the same features"):
        analyse_cells(context_for(ANALYSIS, folder, trained.data), trained.with_dropout(0.1), 60)


def test_command_prints_and_writes(folder: Path, trained: Trained) -> None:
    done = invoke(
        "embedding",
        *("--models", "medmamba", "--datasets", "uci-har", "--out", folder, "--data", trained.data),
        *("--windows", 60),
    )
    assert "What features separate: classes or persons" in done.output
    assert written(folder, "embedding-class") == {".pdf", ".svg", ".png", ".txt"}
    assert written(folder, "embedding-subject") == {".pdf", ".svg", ".png", ".txt"}
    assert written(folder, "embedding") == {".tex", ".md", ".csv", ".json"}
