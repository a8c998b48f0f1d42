"""Votes, calibration and per-class scores, by hand and against scikit-learn."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from bench.render.table import Table
from bench.report.tables.subject_results import class_results, subject_results
from bench.results.predictions import Predictions
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.predicted import read_predicted
from bench.studies.subject_scores import confusion, confusion_score, group_windows, reliability, vote
from bench.studies.suite import make_suites
from tests.report.grids import Grid, write_grid


def predictions(probability: list[list[float]], label: list[int], subject: list[str]) -> Predictions:
    names = np.array(subject)
    return Predictions(np.log(np.array(probability)), np.array(label), names, names, np.arange(len(label)))


def subject_table(out: Path, dataset: str) -> Table:
    study = make_suites(compare(read_all(out)[0]))[0].study(dataset)
    assert study is not None
    table = subject_results(read_predicted(out, study), "subjects")
    assert table is not None
    return table


def test_majority_and_mean_probability_can_disagree() -> None:
    found = predictions([[0.55, 0.45], [0.55, 0.45], [0.01, 0.99]], [1, 1, 1], ["a", "a", "a"])
    votes = vote(found, group_windows(found))
    assert (votes.majority.tolist(), votes.mean_probability.tolist()) == ([0], [1])


def test_a_tie_goes_to_the_larger_mean_probability() -> None:
    found = predictions([[0.6, 0.4], [0.1, 0.9]], [0, 0], ["a", "a"])
    assert vote(found, group_windows(found)).majority.tolist() == [1]


def test_accuracy_is_of_each_subjects_windows() -> None:
    found = predictions([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]], [0, 1, 0], ["b", "b", "a"])
    grouping = group_windows(found)
    assert grouping.names.tolist() == ["a", "b"]
    assert vote(found, grouping).accuracy.tolist() == [1.0, 0.5]


def test_subjects_of_several_classes_have_no_class() -> None:
    found = predictions([[0.9, 0.1], [0.9, 0.1]], [0, 1], ["a", "a"])
    assert group_windows(found).label is None


def test_calibration_error_by_hand() -> None:
    # Confidence 0.9 twice, right once; 0.6 once, right: |0.9 - 0.5| * 2/3 + |0.6 - 1| * 1/3.
    found = predictions([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4]], [0, 1, 0], ["a", "a", "a"])
    assert reliability(found, n_bins=10).calibration_error == pytest.approx(0.4)


def test_certain_and_right_is_calibrated() -> None:
    found = predictions([[1.0, 1e-30]] * 4, [0] * 4, ["a"] * 4)
    assert reliability(found).calibration_error == pytest.approx(0.0)


@settings(max_examples=30, deadline=None)
@given(pairs=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_confusion_and_balanced_accuracy_are_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    label, predicted = np.array(pairs).T
    matrix = confusion(label, predicted, 3)
    assert np.array_equal(matrix, confusion_matrix(label, predicted, labels=[0, 1, 2]))
    if len(np.unique(label)) > 1 and np.isin(predicted, label).all():
        assert confusion_score(matrix, "recall") == pytest.approx(balanced_accuracy_score(label, predicted))


def test_table_has_votes_where_subjects_have_one_class(full: Path) -> None:
    table = subject_table(full, "ptb")
    assert all(cell.mean is not None for row in table.rows for cell in row.cells)


def test_table_has_dashes_where_subjects_have_several_classes(full: Path) -> None:
    table = subject_table(full, "sleep-edf")
    assert all(cell.is_empty for row in table.rows for cell in row.cells[2:6])
    assert (
        "subjects have windows of several classes: there is no vote on a subject's class" in table.footnotes
    )


def test_window_accuracy_is_that_of_the_records(full: Path) -> None:
    records = [one for one in read_all(full)[0] if (one.cell.model, one.cell.dataset) == ("medmamba", "ptb")]
    values = [100 * one.metrics.test.accuracy for one in records if one.metrics]
    row = next(row for row in subject_table(full, "ptb").rows if row.label == "medmamba")
    assert row.cells[0].mean == pytest.approx(np.mean(values))


def test_incomplete_models_are_dashes(partial: Path) -> None:
    table = subject_table(partial, "ptb")
    row = next(row for row in table.rows if row.label == "transformer")
    assert all(cell.is_empty and cell.note for cell in row.cells)


def test_classes_have_their_scores_and_window_counts(full: Path) -> None:
    study = make_suites(compare(read_all(full)[0]))[0].study("ptb")
    assert study is not None
    table = class_results(study, "classes")
    assert [block.heading for block in table.blocks] == [
        "healthy control (36 test windows)",
        "myocardial infarction (36 test windows)",
    ]
    assert all(cell.mean is not None for row in table.rows for cell in row.cells)


def test_damaged_predictions_are_told_and_left_out(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(datasets=("ptb",)))
    path = next((tmp_path / "cells/ptb/medmamba").glob("*s41*/predictions.npz"))
    path.write_bytes(path.read_bytes()[:-10])
    tested = read_predicted(tmp_path, make_suites(compare(read_all(tmp_path)[0]))[0].studies[0])
    assert [str(path) in str(error) for error in tested.damaged] == [True]
    assert [cell.seed for cell in tested.cells["medmamba"]] == [42]
