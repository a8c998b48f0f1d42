"""First and second moments of windows, at equal times and one step apart; those of a recording are their sums.

No pair of steps reaches across two windows, so that gaps, overlaps and padding between windows invent no dynamics.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_VALUES_PER_BLOCK = 1 << 20


@dataclass(frozen=True)
class Moments:
    """Sums over the steps of each of ``n`` units (windows, or recordings), as written below for a unit x(1..T).

    Attributes
    ----------
    n_times, n_pairs
        ``(n,)``: steps, and pairs of neighbouring steps.
    total, early, late
        ``(n, n_channels)``: sums of x over all steps, all but the last, all but the first.
    second, early_second
        ``(n, n_channels, n_channels)``: sum of x x' over all steps, and over all but the last.
    lagged
        ``(n, n_channels, n_channels)``: sum over t of x(t+1) x(t)', rows at the later step.
    lowest, highest
        ``(n, n_channels)``: extremes, by which a constant channel is known.
    """

    n_times: Floats
    n_pairs: Floats
    total: Floats
    early: Floats
    late: Floats
    second: Floats
    early_second: Floats
    lagged: Floats
    lowest: Floats
    highest: Floats

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        """Whether a channel has one value throughout a unit, ``(n, n_channels)``."""
        return self.lowest == self.highest


def moments(windows: NDArray[np.floating]) -> Moments:
    """Return the moments of windows ``(n, n_times, n_channels)``, each a unit; sums are in float64."""
    step = max(1, _VALUES_PER_BLOCK // max(1, windows[:1].size))
    return joined([_moments(windows[start : start + step]) for start in range(0, len(windows), step)])


def joined(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all units of all parts, in order."""
    return Moments(
        **{one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Moments)}
    )


def pooled(windows: Moments, units: NDArray) -> Moments:
    """Return the moments of larger units, sorted by name: ``units`` ``(n,)`` names that of each window."""
    order = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.r_[True, units[order][1:] != units[order][:-1]])
    sums = {}
    for one in fields(Moments):
        join = {"lowest": np.minimum, "highest": np.maximum}.get(one.name, np.add)
        sums[one.name] = join.reduceat(getattr(windows, one.name)[order], starts, axis=0)
    return Moments(**sums)


def centred(unit: Moments) -> Moments:
    """Return the moments after each channel's mean over its unit is subtracted."""
    mean = unit.total / unit.n_times[:, None]
    early, late = (one - unit.n_pairs[:, None] * mean for one in (unit.early, unit.late))
    pairs = unit.n_pairs[:, None, None] * _outer(mean, mean)
    return Moments(
        n_times=unit.n_times,
        n_pairs=unit.n_pairs,
        total=np.zeros_like(unit.total),
        early=early,
        late=late,
        second=unit.second - _outer(unit.total, mean),
        early_second=unit.early_second - _outer(unit.early, mean) - _outer(mean, unit.early) + pairs,
        lagged=unit.lagged - _outer(unit.late, mean) - _outer(mean, unit.early) + pairs,
        lowest=unit.lowest - mean,
        highest=unit.highest - mean,
    )


def standardised(unit: Moments) -> Moments:
    """Return the moments after each channel's z-score over its unit; a constant channel becomes zero."""
    zero_mean, constant = centred(unit), unit.is_constant
    variance = np.einsum("nii->ni", zero_mean.second) / unit.n_times[:, None]
    factor = np.where(constant, 0.0, 1 / np.sqrt(np.where(constant, 1.0, variance)))
    square = _outer(factor, factor)
    return Moments(
        n_times=unit.n_times,
        n_pairs=unit.n_pairs,
        total=zero_mean.total,
        early=zero_mean.early * factor,
        late=zero_mean.late * factor,
        second=zero_mean.second * square,
        early_second=zero_mean.early_second * square,
        lagged=zero_mean.lagged * square,
        lowest=zero_mean.lowest * factor,
        highest=zero_mean.highest * factor,
    )


def _moments(windows: NDArray[np.floating]) -> Moments:
    x = np.asarray(windows, dtype=np.float64)
    transposed = x.swapaxes(1, 2)
    early, late = x[:, :-1], x[:, 1:]
    n, n_times, _ = x.shape
    last = x[:, -1]
    second = transposed @ x
    total = x.sum(axis=1)
    return Moments(
        n_times=np.full(n, float(n_times)),
        n_pairs=np.full(n, float(n_times - 1)),
        total=total,
        early=total - last,
        late=total - x[:, 0],
        second=second,
        early_second=second - _outer(last, last),
        lagged=late.swapaxes(1, 2) @ early,
        lowest=x.min(axis=1),
        highest=x.max(axis=1),
    )


def _outer(rows: Floats, columns: Floats) -> Floats:
    return rows[:, :, None] * columns[:, None, :]
