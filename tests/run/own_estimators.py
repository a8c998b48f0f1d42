"""Estimators that misbehave on purpose, as a user's own files might."""
# ruff: noqa: N803 - X is scikit-learn's name

import os
import signal
import time
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Good(ClassifierMixin, BaseEstimator):
    """Class proportions, with a little noise from its seed."""

    def __init__(
        self, graves: str = "", deaths: int = 0, gib: float = 0.0, random_state: int | None = None
    ) -> None:
        self.graves = graves
        self.deaths = deaths
        self.gib = gib
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        self.misbehave()
        self.classes_, counts = np.unique(y, return_counts=True)
        noise = np.random.default_rng(self.random_state).uniform(0.9, 1.1, len(counts))
        self.prior_ = counts * noise / (counts * noise).sum()
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.tile(self.prior_, (len(X), 1))

    def misbehave(self) -> None:
        """Do what the test is about."""


class Raises(Good):
    def misbehave(self) -> None:
        raise RuntimeError("mistake 42")


class KillsItself(Good):
    """Dies by SIGKILL in its first ``deaths`` fits, counted by files in ``graves``."""

    def misbehave(self) -> None:
        graves = Path(self.graves)
        if len(list(graves.iterdir())) < self.deaths:
            (graves / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Allocates(Good):
    """Asks for ``gib`` of memory, and leaves it untouched."""

    def misbehave(self) -> None:
        np.empty(int(self.gib * 2**27), np.float64)


class Sleeps(Good):
    def misbehave(self) -> None:
        print("asleep", flush=True)
        time.sleep(3600)
