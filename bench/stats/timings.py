"""Raw timings in, numbers with intervals out: pure functions.

A round is one visit to a model: some runs in a row. Rounds are apart in time and taken as independent; runs
within a round share the state of the machine. So the result is the median over rounds of their medians, its
interval comes from order statistics (no distribution assumed), and only latency percentiles use single runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

Rounds = Sequence[Sequence[float]]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Summary:
    """Seconds of one run. ``low`` and ``high`` bound the median at 95 percent; None with fewer than six rounds."""

    median: float
    quartiles: tuple[float, float]
    low: float | None
    high: float | None
    p95: float
    n_rounds: int
    n_runs: int

    @property
    def half_width(self) -> float | None:
        """Half the interval of the median, as a fraction of the median."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2 / self.median


def summarise(rounds: Rounds) -> Summary:
    """Summarise the timings of one model under one condition, in seconds; there is at least one round."""
    medians = np.array([np.median(runs) for runs in rounds])
    runs = np.concatenate([np.asarray(times, dtype=float) for times in rounds])
    low, high = median_interval(medians.tolist()) or (None, None)
    first, third = np.quantile(runs, [0.25, 0.75])
    return Summary(
        median=float(np.median(medians)),
        quartiles=(float(first), float(third)),
        low=low,
        high=high,
        p95=float(np.quantile(runs, 0.95)),
        n_rounds=len(rounds),
        n_runs=len(runs),
    )


def median_interval(values: Sequence[float], level: float = CONFIDENCE) -> tuple[float, float] | None:
    """Return the two values that enclose the median at the level or more; None with too few (at 95 percent: five)."""
    rank = _interval_rank(len(values), level)
    if rank is None:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[-rank]


@cache
def _interval_rank(n: int, level: float) -> int | None:
    """Return the largest k for which the k-th smallest and the k-th largest of n values enclose the median as wanted.

    The median lies outside when fewer than k of n fair coins fall on one side.
    """
    rank, outside = 0, 0.0
    while rank < n // 2:
        outside += 2 * math.comb(n, rank) / 2**n
        if outside > 1 - level:
            break
        rank += 1
    return rank or None


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one model is as another; the interval is None with too few common rounds."""

    median: float
    low: float | None
    high: float | None
    n_rounds: int


def speed_ratio(
    slow: Rounds, fast: Rounds, windows: tuple[int, int], level: float = CONFIDENCE
) -> Ratio | None:
    """Return the windows per second of ``fast`` over those of ``slow``, round by round; None without rounds.

    Rounds are paired by their number, so that a temporary slowdown of the machine affects both.

    Parameters
    ----------
    slow, fast
        Timings of two models, measured in turns.
    windows
        Windows in a run of ``slow`` and of ``fast``.
    level
        Of the interval.
    """
    ratios = [
        float(np.median(a) / np.median(b)) * windows[1] / windows[0] for a, b in zip(slow, fast, strict=False)
    ]
    if not ratios:
        return None
    low, high = median_interval(ratios, level) or (None, None)
    return Ratio(float(np.median(ratios)), low, high, len(ratios))
