"""Verdicts on claims from intervals: supported, contradicted, or undecided if the interval allows both.

A claim is supported only by an interval that lies wholly where the claim is true, and contradicted only by one that
lies wholly where it is not. At most one wrong verdict in forty is due to chance where a claim has one side, one in
twenty where a number can be missed on two. Claims not measured well enough stay undecided. Simulated error rates
are in docs/statistics.md.

Sources: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 1987 (a number within a margin: two one-sided
tests); Wang, JASA 1971 (what Welch's approximation lets through); Berger, Technometrics 1982 (all parts of a claim
tested at the full level: intersection-union); Bonferroni's inequality for the contradiction of any of them; Hsu,
Annals of Statistics 1984 (best of all: every rival counts).
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from bench.errors import RecordError
from bench.stats.estimate import LEVEL, Bounds, Estimate

MARGIN_STDS = 2.0
"""A measured number agrees with a published one if it is surely fewer than this many published deviations away.

Five seeds against five of the same spread reach 1.5 where both agree exactly: a smaller margin could hardly be met.
"""

NUMBER_LEVEL = 0.96
"""Welch's approximation lets 5.3 % through at 0.95 where one spread over five seeds is three times the other."""


class Decision(StrEnum):
    """The verdict of an interval on a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"


def decide_sign(effect: Estimate, level: float = LEVEL) -> Decision:
    """Decide whether an effect is above zero, such as one model's score minus another's.

    Few test subjects decide nothing: see `Estimate.few_subjects`.
    """
    return decide_all_positive([effect], level)


def decide_all_positive(effects: Sequence[Estimate], level: float = LEVEL) -> Decision:
    """Decide whether all effects are above zero: the best of all rivals, or an order of components.

    Supported when every interval is above zero; that errs no more often than one alone. Contradicted when one interval
    is below zero, each at the level 1 - (1 - level) / n, so that all together err as often as one alone. The parts may
    depend on each other in any way.

    Parameters
    ----------
    effects
        Best of all: the model's score minus each rival's, in each metric claimed. An order of components: each loss
        minus the next.
    level
        Of the interval of each effect.

    Raises
    ------
    RecordError
        If there is no effect.
    """
    if not effects:
        raise RecordError("no effect to decide on; give at least one estimate")
    if any(effect.few_subjects for effect in effects):
        return Decision.UNDECIDED
    if all(effect.bounds(level).low > 0 for effect in effects):
        return Decision.SUPPORTED
    strict = part_level(len(effects), level)
    any_below = any(effect.bounds(strict).high < 0 for effect in effects)
    return Decision.CONTRADICTED if any_below else Decision.UNDECIDED


def decide_number(
    measured: Estimate, published: Estimate, margin: float, half_digit: float, level: float = NUMBER_LEVEL
) -> Decision:
    """Decide whether a published number is met.

    Supported when the interval of the difference, a rounding wider on each side, lies within the margin; else
    contradicted when it excludes zero. A difference that is surely there and surely small supports.

    Parameters
    ----------
    measured
        Ours, in the unit of the published one. On the paper's own test subjects only seeds vary: `mean_over_seeds`.
    published
        The result of `published_mean`, or the difference of two such.
    margin
        Largest distance at which numbers count as the same, above zero; `MARGIN_STDS` published deviations unless the
        claim says more.
    half_digit
        Half of the last printed digit; twice that for a difference of two printed numbers.
    level
        Level of the interval.
    """
    difference = measured.minus(published)
    if difference.few_subjects:
        return Decision.UNDECIDED
    bounds = difference.bounds(level)
    low, high = bounds.low - half_digit, bounds.high + half_digit
    if -margin < low and high < margin:
        return Decision.SUPPORTED
    return Decision.UNDECIDED if low <= 0 <= high else Decision.CONTRADICTED


def decide_effect(
    measured: Estimate, published: Estimate, margin: float, half_digit: float, level: float = LEVEL
) -> Decision:
    """Decide whether a published loss, lead or change is met: its sign and its size.

    Parameters
    ----------
    measured, published
        The effect, in one unit; the published one is not zero.
    margin, half_digit
        As for `decide_number`.
    level
        Of the whole decision.
    """
    signed = measured.times(1.0 if published.value > 0 else -1.0)
    return decide_parts(
        [
            lambda of_part: decide_sign(signed, of_part),
            lambda of_part: decide_number(
                measured, published, margin, half_digit, max(of_part, NUMBER_LEVEL)
            ),
        ],
        level,
    )


def decide_parts(parts: Sequence[Callable[[float], Decision]], level: float = LEVEL) -> Decision:
    """Decide a claim of several parts, each of which must hold.

    Supported when all parts are, each at the full level; contradicted when one is at the level of a part.

    Parameters
    ----------
    parts
        Each returns its decision at a level.
    level
        Of the whole decision.
    """
    if all(part(level) is Decision.SUPPORTED for part in parts):
        return Decision.SUPPORTED
    strict = part_level(len(parts), level)
    contradicted = any(part(strict) is Decision.CONTRADICTED for part in parts)
    return Decision.CONTRADICTED if contradicted else Decision.UNDECIDED


def decide_above(bounds: Bounds, value: float) -> Decision:
    """Decide whether a number is above another: its interval lies above it, below it, or holds it."""
    if bounds.low > value:
        return Decision.SUPPORTED
    return Decision.CONTRADICTED if bounds.high < value else Decision.UNDECIDED


def decide_range(bounds: Bounds, low: float, high: float) -> Decision:
    """Decide whether a value lies in a range: surely inside, surely outside, or else undecided."""
    if low <= bounds.low and bounds.high <= high:
        return Decision.SUPPORTED
    return Decision.CONTRADICTED if bounds.high < low or bounds.low > high else Decision.UNDECIDED


def part_level(n_parts: int, level: float = LEVEL) -> float:
    """Return the level of each part of a claim, so that all parts together err as often as one at ``level``."""
    return 1 - (1 - level) / n_parts


def decide_all(decisions: Iterable[Decision]) -> Decision:
    """Decide a claim of several parts, each of which must hold.

    Supported when all parts are, contradicted when one is. With k parts give each the level `part_level(k)`: then the
    whole is wrongly contradicted no more often than one part.
    """
    found = set(decisions)
    if Decision.CONTRADICTED in found:
        return Decision.CONTRADICTED
    return Decision.SUPPORTED if found == {Decision.SUPPORTED} else Decision.UNDECIDED
