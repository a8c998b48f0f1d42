"""How often nominal 95 % intervals hold the truth: of a score, and of the difference of two equally good models."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bench.stats.bootstrap import CONFUSION_SCORES, draw_subjects
from bench.stats.estimate import LEVEL, Bounds
from bench.stats.left_out import auroc_left_out, score_left_out
from bench.stats.two_way import difference_estimate, score_estimate
from bench.stats.unknowable import FewSeedsError
from benchmarks.coverage.settings import MANY
from benchmarks.coverage.simulate import Score, Setting

Floats = NDArray[np.float64]

N_DRAWS = 600
METHODS = ("subjects drawn", "seeds and subjects drawn", "in closed form")


@dataclass(frozen=True)
class Held:
    """Share of studies whose interval held the truth, by method; None where there is no interval."""

    setting: str
    metric: str
    what: str
    shares: tuple[float | None, ...]
    n_studies: int

    def error(self, share: float) -> float:
        """Return the standard error that so many studies leave."""
        return sqrt(share * (1 - share) / self.n_studies)


def coverage(setting: Setting, metric: str, n_studies: int, rng: np.random.Generator) -> Iterator[Held]:
    """Yield the shares for the score of one model and for the difference of two that are equally good."""
    score = CONFUSION_SCORES[metric]
    truth = setting.true_score(score)
    n_subjects = sum(setting.subjects_per_class)
    n_studies = n_studies // 2 if n_subjects >= MANY else n_studies
    # The same draws for all studies: what differs between studies is their data.
    draws = draw_subjects(n_subjects, rng, N_DRAWS)
    seeds = rng.integers(setting.n_seeds, size=(2, N_DRAWS, setting.n_seeds))
    held = np.zeros((2, len(METHODS), n_studies))
    for study in range(n_studies):
        pair = setting.models(rng, (0.0, 0.0))
        for method, bounds in enumerate((*_drawn(pair, score, draws, seeds), _closed(pair, score))):
            for what, true in enumerate((truth, 0.0)):
                found = bounds and bounds[what]
                held[what, method, study] = found.low <= true <= found.high if found else np.nan
    for what, name in enumerate(("score", "difference")):
        means = held[what].mean(axis=1)
        shares = tuple(None if np.isnan(mean) else float(mean) for mean in means)
        yield Held(setting.name, metric, name, shares, n_studies)


@dataclass(frozen=True)
class Ranking:
    """A test part of two classes whose windows are ranked, and how models vary on it.

    A window's score is normal around its class, its subject and what a model makes of that subject; seeds separate the
    classes more or less widely.
    """

    name: str
    subjects_per_class: tuple[int, int]
    n_windows: int = 40
    n_seeds: int = 5
    apart: float = 1.5
    seed_sd: float = 0.15
    subject_sd: float = 0.7
    own_sd: float = 0.3

    @property
    def true_auroc(self) -> float:
        """The mean AUROC over all seeds on all subjects that there could be."""
        spread = sqrt(2 * (1 + self.subject_sd**2 + self.own_sd**2))
        return float(ndtr(self.apart / sqrt(spread**2 + self.seed_sd**2)))

    def models(self, rng: np.random.Generator, n_models: int) -> Floats:
        """Return probabilities (n_models, n_seeds, n_windows, 2), the windows subject by subject."""
        n_subjects = sum(self.subjects_per_class)
        shape = (n_models, self.n_seeds, n_subjects)
        apart = self.apart + self.seed_sd * rng.standard_normal((n_models, self.n_seeds, 1))
        centre = apart * self.labels + self.subject_sd * rng.standard_normal(n_subjects)
        centre = centre + self.own_sd * rng.standard_normal(shape)
        scores = (centre[..., None] + rng.standard_normal((*shape, self.n_windows))).reshape(*shape[:2], -1)
        return np.stack([-scores, scores], axis=-1)

    @property
    def labels(self) -> NDArray[np.integer]:
        """The class of each subject."""
        return np.repeat([0, 1], self.subjects_per_class)


RANKINGS = (Ranking("61 subjects, 52 to 9", (52, 9)), Ranking("20 subjects", (10, 10)))


def ranking_coverage(setting: Ranking, n_studies: int, rng: np.random.Generator) -> Iterator[Held]:
    """Yield the same for AUROC, in closed form only."""
    labels = np.repeat(setting.labels, setting.n_windows)
    subjects = np.repeat(np.arange(len(setting.labels)), setting.n_windows)
    held = np.zeros((2, n_studies))
    for study in range(n_studies):
        first, second = (auroc_left_out(labels, subjects, model) for model in setting.models(rng, 2))
        bounds = score_estimate(first).share_bounds(), difference_estimate(first, second).bounds()
        for what, true in enumerate((setting.true_auroc, 0.0)):
            held[what, study] = bounds[what].low <= true <= bounds[what].high
    for what, name in enumerate(("score", "difference")):
        yield Held(setting.name, "auroc", name, (None, None, float(held[what].mean())), n_studies)


def _drawn(
    pair: Floats, score: Score, draws: Floats, seeds: NDArray[np.integer]
) -> list[tuple[Bounds, Bounds]]:
    """Return percentile intervals of one model and of the difference: subjects drawn, seeds and subjects drawn."""
    values = np.array([score(np.einsum("ds,rsij->drij", draws, model, optimize=True)) for model in pair])
    averaged = values.mean(axis=-1)
    drawn = np.take_along_axis(values, seeds, axis=-1).mean(axis=-1)
    return [(_percentiles(found[0]), _percentiles(found[0] - found[1])) for found in (averaged, drawn)]


def _percentiles(values: Floats) -> Bounds:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Bounds(float(low), float(high), LEVEL)


def _closed(pair: Floats, score: Score) -> tuple[Bounds, Bounds] | None:
    first, second = (score_left_out(model, score) for model in pair)
    try:
        return score_estimate(first).share_bounds(), difference_estimate(first, second).bounds()
    except FewSeedsError:
        return None
