"""Fitting on the parts of a cell: seeded copies, blocks of windows, subjects apart."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bench.errors import DataError, ModelError
from bench.estimators import fit_estimator as module
from bench.estimators.dummy import Dummy
from bench.estimators.fit_estimator import fit_estimator, seeded, windows_of
from bench.estimators.linear import Linear
from bench.train.scores import macro_f1
from tests.train.cohort import make_part

TRAIN, VALIDATION, TEST = make_part("abcdef", 0), make_part("gh", 1), make_part("ij", 2)


def test_an_estimator_learns_what_the_parts_tell() -> None:
    result = fit_estimator(Linear(), TRAIN, VALIDATION, 2, 41)
    assert macro_f1(result.logits(TEST), TEST.part_labels) > 0.9
    assert result.seen_classes == (0, 1)
    assert result.fit_s > 0
    assert not result.validation_shown


def test_a_class_of_the_dataset_without_a_window_has_a_column() -> None:
    logits = fit_estimator(Dummy(), TRAIN, VALIDATION, 4, 41).logits(TEST)
    assert logits.shape == (len(TEST), 4)
    assert logits.dtype == np.float32


def test_validation_is_shown_to_those_that_take_it() -> None:
    booster = HistGradientBoostingClassifier(max_iter=3)
    assert fit_estimator(booster, TRAIN, VALIDATION, 2, 41).validation_shown
    none = replace(VALIDATION, rows=VALIDATION.rows[:0])
    assert not fit_estimator(booster, TRAIN, none, 2, 41).validation_shown


def test_the_estimator_that_was_given_stays_unfitted() -> None:
    estimator = Dummy()
    fit_estimator(estimator, TRAIN, VALIDATION, 2, 41)
    assert not hasattr(estimator, "classes_")
    assert estimator.random_state is None


def test_windows_are_turned_and_in_the_order_of_the_rows() -> None:
    part = replace(TRAIN, rows=TRAIN.rows[[5, 0, 3]])
    np.testing.assert_array_equal(windows_of(part), TRAIN.windows[[5, 0, 3]].transpose(0, 2, 1))


def test_logits_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    result = fit_estimator(Linear(), TRAIN, VALIDATION, 2, 41)
    whole = result.logits(TEST)
    monkeypatch.setattr(module, "_BLOCK", 5)
    np.testing.assert_allclose(result.logits(TEST), whole, atol=1e-5)
    np.testing.assert_array_equal(windows_of(TEST), TEST.windows[TEST.rows].transpose(0, 2, 1))


def test_no_window_gives_no_logits() -> None:
    nobody = replace(TEST, rows=TEST.rows[:0])
    assert fit_estimator(Dummy(), TRAIN, VALIDATION, 3, 41).logits(nobody).shape == (0, 3)


def test_the_seed_decides() -> None:
    logits = [
        fit_estimator(RandomForestClassifier(5), TRAIN, VALIDATION, 2, seed).logits(TEST)
        for seed in (41, 41, 42)
    ]
    np.testing.assert_array_equal(logits[0], logits[1])
    assert not np.array_equal(logits[0], logits[2])


def test_every_seed_inside_is_set_and_differs() -> None:
    pipeline = make_pipeline(RandomForestClassifier(), LogisticRegression(random_state=7))
    found = [
        {
            name: value
            for name, value in seeded(pipeline, seed).get_params().items()
            if name.endswith("random_state")
        }
        for seed in (41, 42)
    ]
    values = [value for parameters in found for value in parameters.values()]
    assert len(set(values)) == 4
    assert all(0 <= value < 2**31 for value in values)
    assert pipeline.get_params()["logisticregression__random_state"] == 7


def test_parts_that_share_a_subject_are_refused() -> None:
    with pytest.raises(DataError, match="subject 'a' is in both the train and the validation part"):
        fit_estimator(Dummy(), TRAIN, make_part("a", 3), 2, 41)


class Changing(BaseEstimator):
    def __init__(self, width: Any = 3) -> None:
        self.width = float(width) + 1

    def fit(self, X: Any, y: Any) -> None: ...  # noqa: N803

    def predict_proba(self, X: Any) -> None: ...  # noqa: N803


def test_a_constructor_that_changes_its_parameters_is_refused() -> None:
    with pytest.raises(ModelError, match=r"Changing cannot be cloned .*may only store its parameters"):
        fit_estimator(Changing(), TRAIN, VALIDATION, 2, 41)
