"""The contract of estimators: what they are fed, what their columns mean, and what is refused."""
# ruff: noqa: N803 - X is scikit-learn's name

from typing import Any, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bench.errors import DataError, ModelError
from bench.estimators import contract
from bench.estimators.contract import LOG_FLOOR, Fitted, Labels, Windows

Task = tuple[Windows, Labels]


class Fixed(ClassifierMixin, BaseEstimator):
    """Gives the output it was made with, whatever it is fed, and remembers what that was."""

    window_layout = "windows"

    def __init__(self, output: Any = None, classes: Any = None) -> None:
        self.output = output
        self.classes = classes

    def fit(self, X: Any, y: Any) -> Self:
        self.fed_ = X, y
        self.classes_ = np.unique(y) if self.classes is None else self.classes
        return self


class FixedProbability(Fixed):
    def predict_proba(self, X: Any) -> Any:
        return np.asarray(self.output)


class FixedDecision(Fixed):
    def decision_function(self, X: Any) -> Any:
        return np.asarray(self.output)


class Validating(FixedProbability):
    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        self.validation_ = X_val, y_val
        return super().fit(X, y)


def windows_of(n: int) -> Windows:
    return np.arange(n * 6, dtype=np.float32).reshape(n, 2, 3)


def fitted(estimator: Any, labels: list[int], n_classes: int) -> Fitted:
    return contract.fit(estimator, windows_of(len(labels)), np.array(labels), n_classes)


def test_probabilities_become_their_logarithms() -> None:
    model = fitted(FixedProbability([[0.25, 0.75], [1.0, 0.0]]), [0, 1], 2)
    np.testing.assert_allclose(
        model.logits(windows_of(2)), np.log([[0.25, 0.75], [1.0, 2.2204e-16]]), atol=1e-4
    )


def test_two_classes_may_share_one_decision_value() -> None:
    values = np.array([-3.0, 0.0, 2.5])
    logits = fitted(FixedDecision(values), [0, 1], 2).logits(windows_of(3))
    np.testing.assert_allclose(np.exp(logits[:, 1]), 1 / (1 + np.exp(-values)), rtol=1e-5)
    np.testing.assert_allclose(np.exp(logits).sum(axis=1), 1, rtol=1e-5)


def test_decision_values_of_many_classes_become_log_softmax() -> None:
    values = np.array([[1.0, -2.0, 0.5], [0.0, 9.0, 1.0]])
    logits = fitted(FixedDecision(values), [0, 1, 2], 3).logits(windows_of(2))
    np.testing.assert_allclose(logits, log_softmax(values, axis=1), rtol=1e-5)


@pytest.mark.parametrize(
    ("labels", "absent"), [([1, 3], [0, 2, 4]), ([0, 4], [1, 2, 3]), ([3, 4], [0, 1, 2])]
)
def test_classes_without_a_training_window_are_the_least_likely(labels: list[int], absent: list[int]) -> None:
    model = fitted(FixedProbability([[0.1, 0.9]]), labels, 5)
    logits = model.logits(windows_of(1))
    np.testing.assert_allclose(logits[0, labels], np.log([0.1, 0.9]), rtol=1e-5)
    np.testing.assert_allclose(logits[0, absent], LOG_FLOOR)
    np.testing.assert_array_equal(model.estimator.fed_[1], [0, 1])


def test_an_absent_class_stays_below_a_hopeless_one() -> None:
    logits = fitted(FixedDecision([[0.0, 100.0]]), [0, 1], 3).logits(windows_of(1))
    assert logits[0, 2] <= logits[0, 0] < LOG_FLOOR


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12).filter(lambda labels: len(set(labels)) > 1))
def test_the_best_column_is_the_class_of_its_label(labels: list[int]) -> None:
    classes = sorted(set(labels))
    output = np.full((len(classes), len(classes)), 0.01)
    np.fill_diagonal(output, 1 - 0.01 * (len(classes) - 1))
    logits = fitted(FixedProbability(output), labels, 6).logits(windows_of(len(classes)))
    np.testing.assert_array_equal(logits.argmax(axis=1), classes)
    assert logits.shape == (len(classes), 6)
    assert np.isfinite(logits).all()


def test_rows_are_flattened_channel_by_channel() -> None:
    estimator = FixedProbability([[0.5, 0.5]])
    estimator.window_layout = "flat"
    fitted(estimator, [0, 1], 2)
    np.testing.assert_array_equal(estimator.fed_[0], np.arange(12, dtype=np.float32).reshape(2, 6))


@pytest.mark.parametrize(
    ("estimator", "layout"),
    [
        (LogisticRegression(), "flat"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "flat"),
        (FixedProbability(), "windows"),
        (make_pipeline(Fixed(), LogisticRegression()), "windows"),
        (object(), "windows"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_layout_is_what_an_estimator_says(estimator: Any, layout: str) -> None:
    assert contract.layout_of(estimator) == layout


def test_an_unknown_layout_is_refused() -> None:
    estimator = FixedProbability()
    estimator.window_layout = "rows"
    with pytest.raises(ModelError, match="window_layout is 'rows'; it has to be 'windows' or 'flat'"):
        contract.layout_of(estimator)


def test_scikit_learns_own_get_rows(task: Task) -> None:
    windows, labels = task
    for estimator in (RidgeClassifier(), make_pipeline(StandardScaler(), LinearSVC())):
        logits = contract.fit(estimator, windows, labels, 4).logits(windows)
        assert (logits.argmax(axis=1) == labels).mean() > 0.9


def test_validation_goes_to_those_that_name_it() -> None:
    estimator = Validating([[0.5, 0.5]])
    validation = windows_of(3) + 100, np.array([2, 0, 1])
    assert contract.fit(estimator, windows_of(2), np.array([0, 2]), 3, validation).n_validation == 2
    shown, labels = estimator.validation_
    np.testing.assert_array_equal(shown, validation[0][:2])
    np.testing.assert_array_equal(labels, [1, 0])


def test_validation_without_a_class_that_was_fitted_is_not_shown() -> None:
    estimator = Validating([[0.5, 0.5]])
    validation = windows_of(2), np.array([1, 1])
    assert contract.fit(estimator, windows_of(2), np.array([0, 2]), 3, validation).n_validation == 0
    assert estimator.validation_ == (None, None)


def test_validation_stops_scikit_learns_boosting(task: Task) -> None:
    windows, labels = task
    estimator = HistGradientBoostingClassifier(max_iter=200, random_state=0).set_params(early_stopping=True)
    contract.fit(estimator, windows, labels, 3, (windows, np.roll(labels, 1)))
    assert estimator.n_iter_ < 50


def test_validation_is_kept_from_what_never_stops_early(task: Task) -> None:
    estimator = HistGradientBoostingClassifier(max_iter=2).set_params(early_stopping=False)
    assert not contract.takes_validation(estimator)
    contract.fit(estimator, *task, 3, task)


def test_validation_is_kept_from_all_others(task: Task) -> None:
    estimator = LogisticRegression()
    assert not contract.takes_validation(estimator)
    contract.fit(estimator, *task, 3, (np.full_like(task[0], np.nan), task[1]))


@pytest.mark.parametrize(
    ("windows", "message"),
    [
        (np.zeros((2, 6), np.float32), r"shape \(2, 6\), expected \(n_windows, n_channels, n_times\)"),
        (np.zeros((0, 2, 3), np.float32), r"shape \(0, 2, 3\)"),
        (np.zeros((2, 2, 3)), "windows are float64; estimators are given float32"),
        (np.full((2, 2, 3), np.nan, np.float32), "2 of 2 windows hold numbers that are not finite"),
    ],
    ids=["two axes", "empty", "double", "nan"],
)
def test_windows_of_another_kind_are_refused(windows: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        contract.fit(FixedProbability(), windows, np.array([0, 1]), 2)


def test_windows_of_another_shape_than_fitted_are_refused() -> None:
    with pytest.raises(DataError, match=r"windows of shape \(3, 2\), but those fitted have \(2, 3\)"):
        fitted(FixedProbability(), [0, 1], 2).logits(windows_of(4).reshape(4, 3, 2))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 3], "label 3 is outside of 0 to 2"),
        ([-1, 0], "label -1 is outside"),
        ([0, 1, 2], r"expected integers of shape \(2,\)"),
        ([0.0, 1.0], "labels are float64"),
        ([1, 1], "all 2 training windows are of class 1"),
    ],
)
def test_labels_of_another_kind_are_refused(labels: list, message: str) -> None:
    with pytest.raises(DataError, match=message):
        contract.fit(FixedProbability(), windows_of(2), np.array(labels), 3)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            FixedProbability([[0.2, 0.3, 0.5]]),
            r"predict_proba gives shape \(1, 3\) for 1 windows, expected \(1, 2\): a column for each of the 2",
        ),
        (FixedProbability([0.2]), r"predict_proba gives shape \(1,\)"),
        (FixedProbability([[0.5, np.nan]]), "gives 1 of 2 numbers that are not finite"),
        (FixedProbability([[1.5, -0.5]]), "gives -0.5; a probability is not negative"),
        (FixedProbability([[0.5, 0.6]]), "gives a row that sums to 1.1"),
        (FixedDecision([[np.inf, 0.0]]), "FixedDecision.decision_function gives 1 of 2 numbers"),
    ],
)
def test_output_of_another_kind_is_refused(estimator: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        fitted(estimator, [0, 1], 2).logits(windows_of(1))


def test_columns_in_another_order_are_refused() -> None:
    with pytest.raises(ModelError, match=r"classes_ is \[1, 0\] after fitting labels 0 to 1"):
        fitted(FixedProbability(classes=[1, 0]), [0, 1], 2)


class NoFit:
    pass


class NoParameters:
    def fit(self, X: Any, y: Any) -> None: ...


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (NoFit(), "NoFit has no method fit; write it"),
        (NoParameters(), "no method get_params; derive the class from sklearn.base.BaseEstimator"),
        (Fixed(), "Fixed has neither predict_proba nor decision_function"),
        (FixedProbability, "FixedProbability is a class; an estimator is an instance of one"),
    ],
    ids=["fit", "get_params", "output", "class"],
)
def test_an_object_without_the_methods_is_refused(estimator: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        contract.require_estimator(estimator)
