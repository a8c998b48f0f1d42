"""First and second moments of windows, at equal times and one step apart; a recording's moments are their sums.

No pair of steps spans two windows, so that gaps, overlaps and padding between windows add no false dynamics.
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
        ``(n, n_channels)``: extremes; equal ones show a constant channel.
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
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Moments)
        }
    )


def pooled(windows: Moments, units: NDArray) -> Moments:
    """Return the moments of larger units, sorted by name: ``units`` ``(n,)`` names that of each window."""
    order = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.r_[True, units[order][1:] != units[order][:-1]])
    sums = {}
    for field in fields(Moments):
        join = {"lowest": np.minimum, "highest": np.maximum}.get(field.name, np.add)
        sums[field.name] = join.reduceat(getattr(windows, field.name)[order], starts, axis=0)
    return Moments(**sums)


def centred(unit: Moments) -> Moments:
    """Return the moments after each channel's mean over its unit is subtracted."""
    return _shifted(unit, _mean(unit))


def standardised(unit: Moments) -> Moments:
    """Return the moments after each channel's z-score over its unit; a constant channel becomes zero."""
    return standardised_by(unit, unit)


def standardised_by(unit: Moments, larger: Moments) -> Moments:
    """Return the moments after each channel's z-score by the mean and the deviation of a larger unit.

    Row n of ``larger`` is the unit that row n of ``unit`` is part of. A channel that is constant there becomes zero.
    """
    variance = np.einsum("nii->ni", centred(larger).second) / larger.n_times[:, None]
    constant = larger.is_constant
    factor = np.where(constant, 0.0, 1 / np.sqrt(np.where(constant, 1.0, variance)))
    return _multiplied(_shifted(unit, _mean(larger)), factor)


def rows_of(units: Moments, rows: NDArray[np.intp]) -> Moments:
    """Return the moments of some units, in the order of ``rows``."""
    return Moments(**{field.name: getattr(units, field.name)[rows] for field in fields(Moments)})


def _mean(unit: Moments) -> Floats:
    return unit.total / unit.n_times[:, None]


def _shifted(unit: Moments, by: Floats) -> Moments:
    """Return the moments of x - by; ``by`` is ``(n, n_channels)``."""
    total = unit.total - unit.n_times[:, None] * by
    early, late = (sums - unit.n_pairs[:, None] * by for sums in (unit.early, unit.late))
    pairs = unit.n_pairs[:, None, None] * _outer(by, by)
    return Moments(
        n_times=unit.n_times,
        n_pairs=unit.n_pairs,
        total=total,
        early=early,
        late=late,
        second=unit.second - _outer(unit.total, by) - _outer(by, total),
        early_second=unit.early_second - _outer(unit.early, by) - _outer(by, unit.early) + pairs,
        lagged=unit.lagged - _outer(unit.late, by) - _outer(by, unit.early) + pairs,
        lowest=unit.lowest - by,
        highest=unit.highest - by,
    )


def _multiplied(unit: Moments, factor: Floats) -> Moments:
    """Return the moments of x * factor; ``factor`` is ``(n, n_channels)`` and not negative."""
    square = _outer(factor, factor)
    return Moments(
        n_times=unit.n_times,
        n_pairs=unit.n_pairs,
        total=unit.total * factor,
        early=unit.early * factor,
        late=unit.late * factor,
        second=unit.second * square,
        early_second=unit.early_second * square,
        lagged=unit.lagged * square,
        lowest=unit.lowest * factor,
        highest=unit.highest * factor,
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
