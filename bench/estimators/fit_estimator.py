"""Fitting one estimator on the parts of a cell: seeded, then scored by logits like a network; saves no weights."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bench.datasets.contract import require_disjoint
from bench.errors import ModelError
from bench.estimators import contract
from bench.estimators.contract import Windows
from bench.models.source import SEEDS
from bench.train.part import Part
from bench.train.seeding import derived_seed

# Windows classified at a time, so that the features of all windows are never in memory together.
_BLOCK = 1024


@dataclass(frozen=True, kw_only=True)
class FitOutcome:
    """The result of fitting an estimator in ``fit_s`` seconds of wall time; without epochs, history and best epoch."""

    fitted: contract.Fitted
    fit_s: float

    @property
    def validation_shown(self) -> bool:
        """Whether the estimator was given the validation part, used or not."""
        return self.fitted.n_validation > 0

    @property
    def seen_classes(self) -> tuple[int, ...]:
        """The labels that the estimator was fitted on, in ascending order."""
        return tuple(self.fitted.classes.tolist())

    def logits(self, part: Part) -> NDArray[np.float32]:
        """Return log-probabilities ``(n, n_classes)`` of a part's windows, in the part's order.

        Raises
        ------
        DataError, ModelError
            The windows cannot be given to the estimator, or its output is no probability.
        """
        starts = range(0, len(part), _BLOCK)
        blocks = [self.fitted.logits(_turned(part, part.rows[start : start + _BLOCK])) for start in starts]
        return np.concatenate(blocks) if blocks else np.empty((0, self.fitted.n_classes), np.float32)


def fit_estimator(estimator: Any, train: Part, validation: Part, n_classes: int, seed: int) -> FitOutcome:
    """Fit a seeded copy of an estimator.

    Parameters
    ----------
    estimator
        Unfitted; not changed.
    train, validation
        Parts without a common subject. An estimator that does not take the validation part is not shown it.
    n_classes
        Number of classes of the dataset.
    seed
        The cell's seed; every ``random_state`` of the copy is derived from it.

    Raises
    ------
    DataError
        The parts share a subject, or the windows cannot be given to an estimator.
    ModelError
        The object is no estimator.
    """
    require_disjoint(train=train.part_subjects, validation=validation.part_subjects)
    contract.require_estimator(estimator)
    shown = (windows_of(validation), validation.part_labels) if contract.takes_validation(estimator) else None
    windows = windows_of(train)
    started = time.perf_counter()
    fitted = contract.fit(seeded(estimator, seed), windows, train.part_labels, n_classes, shown)
    return FitOutcome(fitted=fitted, fit_s=time.perf_counter() - started)


def seeded(estimator: Any, seed: int) -> Any:
    """Return an unfitted copy, in which every seed is derived from ``seed`` and from its parameter's path.

    A seed is a parameter called ``random_state``, ``seed`` or ``random_seed``, of the estimator or of one inside.

    Raises
    ------
    ModelError
        The constructor changes its parameters, so that no copy can be made.
    """
    try:
        copied: Any = clone(estimator)
    except (RuntimeError, TypeError) as error:
        raise ModelError(
            f"{type(estimator).__name__} cannot be cloned ({error}); a constructor may only store its parameters"
        ) from error
    places = [place for place in copied.get_params() if place.rpartition("__")[2] in SEEDS]
    # Some libraries hold a seed in 31 bits.
    seeds = {place: derived_seed(seed, place) >> 1 for place in places}
    return copied.set_params(**seeds) if seeds else copied


def windows_of(part: Part) -> Windows:
    """Return all windows of a part as estimators are given them, ``(n, n_channels, n_times)``."""
    n_times, n_channels = part.windows.shape[1:]
    turned = np.empty((len(part), n_channels, n_times), np.float32)
    for start in range(0, len(part), _BLOCK):
        turned[start : start + _BLOCK] = _turned(part, part.rows[start : start + _BLOCK])
    return turned


def _turned(part: Part, rows: NDArray[np.int64]) -> Windows:
    return np.ascontiguousarray(part.windows[rows].transpose(0, 2, 1))
