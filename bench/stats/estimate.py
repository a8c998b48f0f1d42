"""An estimate, the sources of its variance, and the interval that follows from them.

Sources: Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 1946
(degrees of freedom of a sum of estimated variances); Welch, Biometrika 1947 (the same for a difference of two means).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from bench.stats.unknowable import FewSeedsError

LEVEL = 0.95
POSSIBLE_POINTS = 100.0
"""No two scores in percent differ by more."""

_LEAST_DF = 1.0
"""Of two seeds, or of two subjects of a class: fewer have no variance."""

FEW_SUBJECTS = 10
"""Below this many test subjects an interval is flagged; docs/statistics.md has its coverage then."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Variance:
    """What one source adds to the variance of an estimate.

    Attributes
    ----------
    value
        The estimated variance, in the squared unit of the estimate.
    doubt
        Half the variance of that estimated variance: value^2 / df for a mean square with df degrees of freedom.
    """

    value: float
    doubt: float

    @classmethod
    def of_mean_square(cls, value: float, df: float) -> "Variance":
        """Return the variance estimated by a mean square with ``df`` degrees of freedom."""
        return cls(value, value**2 / df)


@dataclass(frozen=True)
class Bounds:
    """An interval that holds the true value at a level."""

    low: float
    high: float
    level: float

    @property
    def excludes_zero(self) -> bool:
        """Whether zero lies outside."""
        return not self.low <= 0 <= self.high

    def within(self, largest: float) -> "Bounds":
        """Return the bounds cut off where no value can be: beyond ``largest`` on either side of zero."""
        return Bounds(max(self.low, -largest), min(self.high, largest), self.level)


@dataclass(frozen=True)
class Estimate:
    """An estimated number with the variance that each independent source gives it.

    Attributes
    ----------
    value
        The estimate.
    sources
        Its variances, at least one.
    n_seeds
        The smallest number of seeds behind any part of it.
    n_subjects
        Number of test subjects if their choice is among the sources; None if the subjects are taken as fixed.
    """

    value: float
    sources: tuple[Variance, ...]
    n_seeds: int
    n_subjects: int | None = None

    @property
    def standard_error(self) -> float:
        """The square root of the summed variances."""
        return sqrt(sum(source.value for source in self.sources))

    @property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom, at least those of the least source; infinite if nothing varies.

        A sum of variances is known as well as its least source at worst. A source that is cut off at zero keeps its
        doubt, which alone could bring the degrees below one, and every interval to all that is possible.
        """
        doubt = sum(source.doubt for source in self.sources)
        return max(self.standard_error**4 / doubt, _LEAST_DF) if doubt else inf

    @property
    def few_subjects(self) -> bool:
        """Whether there are too few subjects to rely on the interval."""
        return self.n_subjects is not None and self.n_subjects < FEW_SUBJECTS

    def bounds(self, level: float = LEVEL) -> Bounds:
        """Return the interval value +- t(df) standard errors."""
        half = self._half_width(level)
        return Bounds(self.value - half, self.value + half, level)

    def share_bounds(self, level: float = LEVEL) -> Bounds:
        """Return the interval of an estimate between 0 and 1, such as a score, symmetric in its log odds.

        It stays between 0 and 1 and reaches further to the side where there is room. Not for differences.
        """
        from scipy.special import expit, logit

        room = self.value * (1 - self.value)
        if not room:
            return self.bounds(level)
        centre, half = logit(self.value), self._half_width(level) / room
        return Bounds(float(expit(centre - half)), float(expit(centre + half)), level)

    def _half_width(self, level: float) -> float:
        from scipy.special import stdtrit

        error = self.standard_error
        return float(stdtrit(self.df, (1 + level) / 2)) * error if error else 0.0

    def minus(self, other: "Estimate") -> "Estimate":
        """Return the difference to an estimate that shares no source with this one."""
        subjects = [n for n in (self.n_subjects, other.n_subjects) if n is not None]
        return Estimate(
            self.value - other.value,
            self.sources + other.sources,
            min(self.n_seeds, other.n_seeds),
            min(subjects, default=None),
        )

    def times(self, factor: float) -> "Estimate":
        """Return the estimate in another unit, such as percentage points."""
        sources = tuple(
            Variance(source.value * factor**2, source.doubt * factor**4) for source in self.sources
        )
        return Estimate(self.value * factor, sources, self.n_seeds, self.n_subjects)


def mean_over_seeds(scores: Floats | Sequence[float]) -> Estimate:
    """Return the mean of scores ``(n_seeds,)`` on these very test subjects: other seeds, the same subjects.

    Raises
    ------
    FewSeedsError
        If there are fewer than two.
    """
    n_seeds = len(scores)
    if n_seeds < 2:
        raise FewSeedsError(n_seeds)
    square = float(np.var(scores, ddof=1)) / n_seeds
    return Estimate(float(np.mean(scores)), (Variance.of_mean_square(square, n_seeds - 1),), n_seeds)


def published_mean(mean: float, std: float, n_seeds: int, half_digit: float, ddof: int = 0) -> Estimate:
    """Return a printed mean +- std over seeds as an estimate.

    Parameters
    ----------
    mean, std
        As printed.
    n_seeds
        Number of seeds behind them.
    half_digit
        Half of the last printed digit; the unrounded deviation may be that much larger.
    ddof
        The deviation's divisor was n_seeds - ddof. Papers seldom say which; 0 gives the wider interval.

    Raises
    ------
    FewSeedsError
        If there are fewer than two.
    """
    if n_seeds < 2:
        raise FewSeedsError(n_seeds)
    square = (std + half_digit) ** 2 / (n_seeds - 1) * (n_seeds - ddof) / n_seeds
    return Estimate(mean, (Variance.of_mean_square(square, n_seeds - 1),), n_seeds)
