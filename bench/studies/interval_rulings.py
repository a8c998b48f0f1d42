"""Rulings on claims from estimates: the decision of the intervals, and the numbers behind it."""

from collections.abc import Callable, Mapping, Sequence
from math import hypot

from bench.paper.names import PAPER_SEEDS
from bench.paper.published import HALF_DIGIT
from bench.paper.scale import Ruling, Verdict, all_hold
from bench.stats.estimate import LEVEL, Estimate, published_mean
from bench.stats.verdict import (
    MARGIN_STDS,
    NUMBER_LEVEL,
    decide_all_positive,
    decide_effect,
    decide_number,
    part_level,
)


def number_ruling(
    measured: Estimate, stated: float, std: float, half_digit: float, level: float = LEVEL
) -> Ruling:
    """Rule on a stated mean over seeds with its deviation, in percent.

    Parameters
    ----------
    measured
        Ours.
    stated, std
        The paper's.
    half_digit
        Half of the last digit that the paper prints of it.
    level
        Of the whole decision.
    """
    printed = published_mean(stated, std, len(PAPER_SEEDS), HALF_DIGIT)
    decision = decide_number(measured, printed, MARGIN_STDS * std, half_digit, max(level, NUMBER_LEVEL))
    return Ruling(Verdict(decision), against(measured, printed))


def effect_ruling(
    measured: Estimate, stated: float, stds: Sequence[float], half_digit: float, level: float = LEVEL
) -> Ruling:
    """Rule on a stated loss, lead or change by its sign and its size.

    Parameters
    ----------
    measured
        Ours, in the unit of ``stated``.
    stated
        The paper's; not zero.
    stds
        The published deviations over seeds of what it is the difference of.
    half_digit
        Half of the last digit that the paper prints of it.
    level
        Of the whole decision.
    """
    first, *others = (published_mean(0, std, len(PAPER_SEEDS), HALF_DIGIT) for std in stds)
    printed = Estimate(stated, first.sources, first.n_seeds)
    for other in others:
        printed = printed.minus(other)
    decision = decide_effect(measured, printed, MARGIN_STDS * hypot(*stds), half_digit, level)
    return Ruling(Verdict(decision), against(measured, printed))


def positive_ruling(what: str, effects: Mapping[str, Estimate], level: float = LEVEL) -> Ruling:
    """Rule on all effects being above zero; the evidence counts the intervals that are, and shows the lowest effect.

    Parameters
    ----------
    what
        Names the effects, in the plural.
    effects
        By name; an only effect may have an empty name.
    level
        Of the whole decision.
    """
    verdict = Verdict(decide_all_positive(list(effects.values()), level))
    bounds = {name: effect.bounds(level) for name, effect in effects.items()}
    n_above = sum(found.low > 0 for found in bounds.values())
    lowest = min(effects, key=lambda name: effects[name].value)
    shown = f"{shown_estimate(effects[lowest], level)}{f' ({lowest})' if lowest else ''}"
    if len(effects) == 1:
        return Ruling(verdict, f"{what}: {shown}")
    n_below = sum(found.high < 0 for found in bounds.values())
    text = f"{n_above} of {len(effects)} intervals above zero, {n_below} below, lowest {shown}"
    return Ruling(verdict, f"{what}: {text}")


def parts_ruling(parts: Sequence[Callable[[float], Ruling]], level: float = LEVEL) -> Ruling:
    """Rule on a claim of several parts, each of which must hold, as `bench.stats.verdict.decide_parts` does.

    Parameters
    ----------
    parts
        Each returns its ruling at a level.
    level
        Of the whole decision.
    """
    whole = all_hold([part(level) for part in parts])
    if whole.verdict is not Verdict.CONTRADICTED:
        return whole
    strict = all_hold([part(part_level(len(parts), level)) for part in parts])
    return strict if strict.verdict is Verdict.CONTRADICTED else Ruling(Verdict.UNDECIDED, whole.evidence)


def few_seeds_ruling(what: str) -> Ruling:
    """Return the ruling on numbers of fewer than two seeds."""
    return Ruling(Verdict.UNDECIDED, f"{what}: fewer than two seeds, hence no interval")


def against(measured: Estimate, printed: Estimate) -> str:
    """Return measured and stated number, and the interval of their difference."""
    difference = shown_estimate(measured.minus(printed), NUMBER_LEVEL)
    return f"measured {measured.value:.2f}, stated {printed.value:.2f}, difference {difference}"


def shown_estimate(effect: Estimate, level: float = LEVEL) -> str:
    """Return an estimate with its interval."""
    found = effect.bounds(level)
    return f"{effect.value:+z.2f} [{found.low:+z.2f}, {found.high:+z.2f}]"
