"""How often nominal 95 % intervals hold the truth: of a score, and of the difference of two equally good models."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bench.results.bootstrap import CONFUSION_SCORES, draw_subjects
from bench.stats.estimate import LEVEL, Bounds
from bench.stats.left_out import score_left_out
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
    n_studies = n_studies // 4 if n_subjects >= MANY else n_studies
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
        return score_estimate(first).bounds(), difference_estimate(first, second).bounds()
    except FewSeedsError:
        return None
