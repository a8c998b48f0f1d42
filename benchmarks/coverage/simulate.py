"""Confusion matrices of simulated models whose true scores are known.

A window of class y is recognised with probability link(level_y + seed + subject + model's subject + interaction), the
last four normal; what is not recognised goes to the other classes by their share of subjects.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]


def straight(values: Floats) -> Floats:
    """Take values as probabilities, kept off 0 and 1."""
    return np.clip(values, 0.01, 0.99)


@dataclass(frozen=True)
class Setting:
    """A test part and how models vary on it.

    Deviations are in the unit of the link's argument: probability for `straight`, log odds for `expit`. The numbers of
    windows are spread by `windows_sd`, the deviation of their logarithm; a share `failing` of subjects lies lower by
    `drop` for all models.
    """

    name: str
    subjects_per_class: tuple[int, ...]
    n_windows: int
    level: tuple[float, ...]
    seed_sd: float
    subject_sd: float
    model_subject_sd: float
    interaction_sd: float
    n_seeds: int = 5
    link: Callable[[Floats], Floats] = straight
    windows_sd: float = 0.0
    failing: float = 0.0
    drop: float = 0.0

    @property
    def classes(self) -> NDArray[np.integer]:
        """The class of each subject."""
        return np.repeat(np.arange(len(self.level)), self.subjects_per_class)

    @property
    def confused(self) -> Floats:
        """Where windows go that are not recognised, (n_classes, n_classes); rows sum to one, the diagonal is zero."""
        shares = np.array(self.subjects_per_class, dtype=float)
        rows = np.where(np.eye(len(shares), dtype=bool), 0.0, shares)
        return rows / rows.sum(axis=1, keepdims=True)

    def models(self, rng: np.random.Generator, shifts: tuple[float, ...] = (0.0,)) -> Floats:
        """Return confusion matrices (n_models, n_seeds, n_subjects, n_classes, n_classes) of models on one test part.

        `shifts` is added to the level of each model.
        """
        n_models, n_subjects = len(shifts), len(self.classes)
        level = np.array(self.level)[self.classes] + np.array(shifts)[:, None, None]
        argument = (
            level
            + self.subject_sd * rng.standard_normal(n_subjects)
            + self.model_subject_sd * rng.standard_normal((n_models, 1, n_subjects))
            + self.seed_sd * rng.standard_normal((n_models, self.n_seeds, 1))
            + self.interaction_sd * rng.standard_normal((n_models, self.n_seeds, n_subjects))
        )
        argument -= self.drop * (rng.random(n_subjects) < self.failing)
        return self._counted(rng, self.link(argument))

    def _counted(self, rng: np.random.Generator, recognised: Floats) -> Floats:
        n_classes = len(self.level)
        found = np.zeros((*recognised.shape, n_classes, n_classes))
        sizes = np.exp(self.windows_sd * rng.standard_normal(len(self.classes)))
        n_windows = np.ceil(self.n_windows * sizes).astype(int)
        hits = rng.binomial(n_windows, recognised)
        for label in range(n_classes):
            members = self.classes == label
            found[..., members, label, label] = hits[..., members]
            left, share = (n_windows - hits)[..., members], 1.0
            for other in np.flatnonzero(self.confused[label]):
                part = self.confused[label, other]
                taken = rng.binomial(left, min(1.0, part / share))
                found[..., members, label, other] = taken
                left, share = left - taken, share - part
        return found

    def true_score(self, score: Score, shift: float = 0.0) -> float:
        """Return the mean score over all seeds on all subjects that there could be, by Gauss and Hermite's rule."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(61)
        weights = weights / weights.sum()
        spread = np.sqrt(self.subject_sd**2 + self.model_subject_sd**2 + self.interaction_sd**2)
        seeds = self.seed_sd * nodes[:, None, None]
        argument = np.array(self.level)[:, None] + shift + seeds + spread * nodes
        usual, failed = (self.link(argument - drop) @ weights for drop in (0.0, self.drop))
        recognised = usual + self.failing * (failed - usual)  # (seed nodes, n_classes)
        n_classes = len(self.level)
        shares = np.array(self.subjects_per_class) / sum(self.subjects_per_class)
        hit = recognised[..., None] * np.eye(n_classes)
        missed = (1 - recognised)[..., None] * self.confused
        return float(score(shares[:, None] * (hit + missed)) @ weights)
