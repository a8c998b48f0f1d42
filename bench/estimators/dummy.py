"""The class proportions of the training windows as every window's probabilities: the baseline for all models."""
# ruff: noqa: N803 - X is scikit-learn's name

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from bench.estimators.contract import Labels, Layout, Windows

REVISION = 1


class Dummy(ClassifierMixin, BaseEstimator):
    """Gives every window the same probabilities; ``random_state`` is accepted, as by all estimators, and has no effect.

    Equal to scikit-learn's ``DummyClassifier(strategy="prior")``, but without parameters in the key.
    """

    window_layout: ClassVar[Layout] = "windows"

    def __init__(self, *, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: Windows, y: Labels) -> Self:
        """Count the classes of the labels."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self.prior_ = counts / len(y)
        return self

    def predict_proba(self, X: Windows) -> NDArray[np.float64]:
        """Return the proportions for each window, ``(n_windows, n_classes)``."""
        return np.tile(self.prior_, (len(X), 1))

    def predict(self, X: Windows) -> Labels:
        """Return the most frequent class for each window."""
        return np.full(len(X), self.classes_[self.prior_.argmax()])
