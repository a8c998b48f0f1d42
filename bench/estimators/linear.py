"""Logistic regression on every number of a window, standardised: the baseline without any structure in time.

The window flattened, channel by channel, each of its numbers with mean 0 and deviation 1 over the training windows.
"""
# ruff: noqa: N803 - X is scikit-learn's name

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from bench.estimators.contract import Labels, Layout

REVISION = 1


class Linear(ClassifierMixin, BaseEstimator):
    """Multinomial logistic regression.

    Parameters
    ----------
    inverse_penalty
        scikit-learn's ``C``: the smaller, the closer to zero are the weights.
    max_iterations
        Steps of L-BFGS after which the weights are taken as they are.
    random_state
        Accepted, as by all estimators; L-BFGS draws nothing.
    """

    window_layout: ClassVar[Layout] = "flat"

    def __init__(
        self, *, inverse_penalty: float = 1.0, max_iterations: int = 1000, random_state: int | None = None
    ) -> None:
        self.inverse_penalty = inverse_penalty
        self.max_iterations = max_iterations
        self.random_state = random_state

    def fit(self, X: NDArray[np.float32], y: Labels) -> Self:
        """Fit flattened windows ``(n_windows, n_channels * n_times)`` and their labels."""
        self.pipeline_: Pipeline = make_pipeline(
            StandardScaler(), LogisticRegression(C=self.inverse_penalty, max_iter=self.max_iterations)
        )
        self.pipeline_.fit(X, y)
        self.classes_ = self.pipeline_.classes_
        return self

    def predict_proba(self, X: NDArray[np.float32]) -> NDArray[np.floating]:
        """Return the probabilities of the classes, ``(n_windows, n_classes)``."""
        return self.pipeline_.predict_proba(X)

    def predict(self, X: NDArray[np.float32]) -> Labels:
        """Return the class of each window."""
        return self.pipeline_.predict(X)
