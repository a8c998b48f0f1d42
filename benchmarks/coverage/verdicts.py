"""How often verdicts on claims are wrong where the truth is known: by the sign of means as before, and by intervals.

Claims of the ablation are simulated with its published means and deviations; the scores of one seed in different
metrics are correlated. "These subjects": only seeds vary, as for a claim about the paper's own test part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from bench.paper import published
from bench.stats.bootstrap import CONFUSION_SCORES, draw_subjects
from bench.stats.estimate import Estimate, mean_over_seeds, published_mean
from bench.stats.left_out import LeftOut, score_left_out
from bench.stats.two_way import difference_estimate
from bench.stats.verdict import (
    MARGIN_STDS,
    Decision,
    decide_all_positive,
    decide_effect,
    decide_number,
    decide_parts,
)
from benchmarks.coverage.settings import SETTINGS

Floats = NDArray[np.float64]
Pair = tuple[Decision, Decision]
"""The verdict by the earlier rule, and the verdict by intervals."""

N_SEEDS = 5
HALF_DIGIT = 0.005
CORRELATION = 0.8
FULL = "medmamba"
ORDER = ("medmamba-single-scale", "medmamba-no-channel-mixing", "medmamba-unidirectional")
SHIFTS = {FULL: 0.0, ORDER[0]: -0.0176, ORDER[1]: -0.0103, ORDER[2]: -0.0060}
"""Published losses in macro F1, as probabilities."""


@dataclass(frozen=True)
class Scenario:
    """A claim, the simulated truth, the verdict that would be wrong, and a study that returns the verdicts."""

    claim: str
    truth: str
    wrong: tuple[Decision, ...]
    study: Callable[[np.random.Generator], Pair]


@dataclass(frozen=True)
class Rates:
    """Shares of studies, supported and contradicted, before and by intervals."""

    scenario: Scenario
    before: tuple[float, float]
    by_intervals: tuple[float, float]
    n_studies: int


def rates(scenario: Scenario, n_studies: int, rng: np.random.Generator) -> Rates:
    """Return the shares of verdicts over a scenario's studies."""
    found = [scenario.study(rng) for _ in range(n_studies)]
    before, now = (
        tuple(
            sum(pair[side] is decision for pair in found) / n_studies
            for decision in (Decision.SUPPORTED, Decision.CONTRADICTED)
        )
        for side in (0, 1)
    )
    return Rates(scenario, (before[0], before[1]), (now[0], now[1]), n_studies)


def _by_sign(holds: bool) -> Decision:
    return Decision.SUPPORTED if holds else Decision.CONTRADICTED


def number_study(
    *, off: float = 0.0, spread: float = 1.0, ddof: int = 0, skewed: float = 0.0
) -> Callable[[np.random.Generator], Pair]:
    """Return a study of a published macro F1 of 52.01 with a deviation of 0.93.

    Parameters
    ----------
    off
        Our true mean minus the paper's, in printed margins, to either side.
    spread
        Our deviation between seeds in units of the paper's.
    ddof
        Of the printed deviation.
    skewed
        Weight of an exponential part in the scores of seeds, in both studies.
    """

    def seeds(rng: np.random.Generator, sd: float) -> Floats:
        bad = 1 - rng.exponential(size=N_SEEDS)
        return sd * (sqrt(1 - skewed**2) * rng.standard_normal(N_SEEDS) + skewed * bad)

    def study(rng: np.random.Generator) -> Pair:
        theirs = 52.01 + seeds(rng, 0.93)
        mean, std = round(float(theirs.mean()), 2), round(float(theirs.std(ddof=ddof)), 2)
        margin = MARGIN_STDS * std
        ours = 52.01 + rng.choice([-1, 1]) * off * margin + seeds(rng, spread * 0.93)
        before = _by_sign(abs(float(ours.mean()) - mean) <= 2 * std + HALF_DIGIT)
        stated = published_mean(mean, std, N_SEEDS, HALF_DIGIT)
        return before, decide_number(mean_over_seeds(ours), stated, margin, HALF_DIGIT)

    return study


@cache
def _published(model: str) -> tuple[Floats, Floats]:
    cells = [cell for cell in published.ablation() if cell.variant == model]
    return np.array([cell.mean for cell in cells]), np.array([cell.std for cell in cells])


def _scores(rng: np.random.Generator, model: str, mean_of: str) -> Floats:
    """Return the scores (n_seeds, n_metrics) of a model with its own deviations and the means of one."""
    common = rng.standard_normal((N_SEEDS, 1))
    own = rng.standard_normal((N_SEEDS, len(published.METRICS)))
    noise = sqrt(CORRELATION) * common + sqrt(1 - CORRELATION) * own
    return _published(mean_of)[0] + _published(model)[1] * noise


def _difference(first: Floats, second: Floats) -> Estimate:
    return mean_over_seeds(first).minus(mean_over_seeds(second))


def _all_studied(firsts: Sequence[Floats], seconds: Sequence[Floats]) -> Pair:
    """Decide whether each first is above its second in all metrics; scores (n_seeds, n_metrics)."""
    pairs = [
        (a, b)
        for first, second in zip(firsts, seconds, strict=True)
        for a, b in zip(first.T, second.T, strict=True)
    ]
    before = _by_sign(all(a.mean() > b.mean() for a, b in pairs))
    return before, decide_all_positive([_difference(a, b) for a, b in pairs])


def sign_study(model: str, mean_of: str, metric: int) -> Callable[[np.random.Generator], Pair]:
    """Return a study of the full model against a reduced one in a metric; its true means are those of another."""

    def study(rng: np.random.Generator) -> Pair:
        full, reduced = _scores(rng, FULL, FULL)[:, [metric]], _scores(rng, model, mean_of)[:, [metric]]
        return _all_studied([full], [reduced])

    return study


def loss_study(model: str, mean_of: str, metrics: Sequence[int]) -> Callable[[np.random.Generator], Pair]:
    """Return a study of stated losses with their sizes; the paper's own seeds are drawn, too, with the true losses."""

    def study(rng: np.random.Generator) -> Pair:
        theirs = [_scores(rng, name, name) for name in (FULL, model)]
        ours = _scores(rng, FULL, FULL), _scores(rng, model, mean_of)
        pairs = [
            _loss_studied([scores[:, metric] for scores in theirs], [scores[:, metric] for scores in ours])
            for metric in metrics
        ]
        before = _by_sign(all(pair[0] is Decision.SUPPORTED for pair in pairs))
        return before, decide_parts([decided for _, decided in pairs])

    return study


def _loss_studied(
    theirs: Sequence[Floats], ours: Sequence[Floats]
) -> tuple[Decision, Callable[[float], Decision]]:
    """Return the verdict on one loss by the earlier rule, and that by intervals at a level; full model, reduced one."""
    printed = [(round(float(scores.mean()), 2), round(float(scores.std()), 2)) for scores in theirs]
    stds = hypot(*(std for _, std in printed))
    stated = printed[0][0] - printed[1][0]
    lost = _difference(*ours)
    spread = float((ours[0] - ours[1]).std(ddof=1))
    before = _by_sign(lost.value * stated > 0 and abs(lost.value - stated) <= 2 * spread + HALF_DIGIT)
    means = [published_mean(mean, std, N_SEEDS, HALF_DIGIT) for mean, std in printed]
    published_loss = means[0].minus(means[1])

    def decided(level: float) -> Decision:
        return decide_effect(lost, published_loss, MARGIN_STDS * stds, 2 * HALF_DIGIT, level)

    return before, decided


def best_study(means_of: Sequence[str]) -> Callable[[np.random.Generator], Pair]:
    """Return a study of the full model being best in all metrics; the reduced ones have the means of others."""

    def study(rng: np.random.Generator) -> Pair:
        full = _scores(rng, FULL, FULL)
        return _all_studied(
            [full] * len(ORDER), [_scores(rng, *names) for names in zip(ORDER, means_of, strict=True)]
        )

    return study


def order_study(means_of: Sequence[str]) -> Callable[[np.random.Generator], Pair]:
    """Return a study of which component's absence costs most: the less it costs, the higher the reduced model."""

    def study(rng: np.random.Generator) -> Pair:
        reduced = [_scores(rng, *names) for names in zip(ORDER, means_of, strict=True)]
        return _all_studied(reduced[1:], reduced[:-1])

    return study


SUBJECTS = SETTINGS[3]
METRICS = ("accuracy", "precision", "recall", "f1")


def _models(rng: np.random.Generator, shifts: Sequence[float]) -> list[dict[str, LeftOut]]:
    found = SUBJECTS.models(rng, tuple(shifts))
    return [{name: score_left_out(model, CONFUSION_SCORES[name]) for name in METRICS} for model in found]


def _decided(pairs: Sequence[tuple[LeftOut, LeftOut]]) -> Pair:
    before = _by_sign(all(first.scores.mean() > second.scores.mean() for first, second in pairs))
    return before, decide_all_positive([difference_estimate(*pair) for pair in pairs])


def other_subjects_study(
    claim: Callable[[Sequence[dict[str, LeftOut]]], Sequence[tuple[LeftOut, LeftOut]]],
    shifts: Sequence[float],
) -> Callable[[np.random.Generator], Pair]:
    """Return a study of four models on drawn subjects; `claim` names the pairs whose first is claimed to be above."""
    return lambda rng: _decided(claim(_models(rng, shifts)))


def _direction_helps(models: Sequence[dict[str, LeftOut]]) -> list[tuple[LeftOut, LeftOut]]:
    return [(models[0]["f1"], models[3]["f1"])]


def _full_is_best(models: Sequence[dict[str, LeftOut]]) -> list[tuple[LeftOut, LeftOut]]:
    return [(models[0][name], model[name]) for model in models[1:] for name in METRICS]


def _ordered(models: Sequence[dict[str, LeftOut]]) -> list[tuple[LeftOut, LeftOut]]:
    return [(low[name], high[name]) for high, low in pairwise(models[1:]) for name in METRICS]


def lead_study(lead: float) -> Callable[[np.random.Generator], Pair]:
    """Return a study of two models on 61 subjects, five seeds with a deviation of 2 points; the first leads truly."""

    def study(rng: np.random.Generator) -> Pair:
        models = SETTINGS[0].models(rng, (lead, 0.0))
        first, second = (score_left_out(model, CONFUSION_SCORES["f1"]) for model in models)
        return _decided([(first, second)])

    return study


def headline_study(n_models: int) -> Callable[[np.random.Generator], Pair]:
    """Return a study of equally good models on 61 subjects, the claim being that the one with the highest F1 is ahead.

    Before: an interval over draws of subjects of its lead over the second.
    """
    setting, score = SETTINGS[0], CONFUSION_SCORES["f1"]
    draws = draw_subjects(sum(setting.subjects_per_class), np.random.default_rng(0), 600)

    def study(rng: np.random.Generator) -> Pair:
        models = setting.models(rng, (0.0,) * n_models)
        left_out = [score_left_out(model, score) for model in models]
        order = sorted(range(n_models), key=lambda model: -left_out[model].scores.mean())
        drawn = [
            score(np.einsum("ds,rsij->drij", draws, models[model], optimize=True)).mean(axis=1)
            for model in order[:2]
        ]
        ahead = float(np.quantile(drawn[0] - drawn[1], 0.025)) > 0
        first = left_out[order[0]]
        leads = [difference_estimate(first, left_out[model]) for model in order[1:]]
        return Decision.SUPPORTED if ahead else Decision.UNDECIDED, decide_all_positive(leads)

    return study


_S, _C = Decision.SUPPORTED, Decision.CONTRADICTED
_F1, _EQUAL = published.METRICS.index("f1"), (FULL,) * 3
_TWO = [_F1, published.METRICS.index("auroc")]
_PUBLISHED = tuple(SHIFTS.values())
_NONE = (0.0,) * 4

SCENARIOS = (
    Scenario("a number", "exactly right", (_C,), number_study()),
    Scenario("a number", "exactly right, std printed with n - 1", (_C,), number_study(ddof=1)),
    Scenario("a number", "exactly right, our spread three times theirs", (_C,), number_study(spread=3)),
    Scenario("a number", "exactly right, our spread a third", (_C,), number_study(spread=1 / 3)),
    Scenario("a number", "exactly right, seeds skewed", (_C,), number_study(skewed=0.9)),
    Scenario("a number", "off by the margin", (_S,), number_study(off=1)),
    Scenario(
        "a number", "off by the margin, our spread three times theirs", (_S,), number_study(off=1, spread=3)
    ),
    Scenario("a number", "off by three margins", (_S,), number_study(off=3)),
    Scenario("a loss of 0.60 with its size", "exactly right", (_C,), loss_study(ORDER[2], ORDER[2], [_F1])),
    Scenario("a loss of 1.76 with its size", "exactly right", (_C,), loss_study(ORDER[0], ORDER[0], [_F1])),
    Scenario("a loss of 1.76 with its size", "no effect", (_S,), loss_study(ORDER[0], FULL, [_F1])),
    Scenario("one direction is worse", "no effect", (_S, _C), sign_study(ORDER[2], FULL, _F1)),
    Scenario("one direction is worse", "by 0.60", (_C,), sign_study(ORDER[2], ORDER[2], _F1)),
    Scenario("one scale is worse", "by 1.76", (_C,), sign_study(ORDER[0], ORDER[0], _F1)),
    Scenario("full model best of 4, 5 metrics", "as published", (_C,), best_study(ORDER)),
    Scenario("full model best of 4, 5 metrics", "no effect", (_S, _C), best_study(_EQUAL)),
    Scenario(
        "full model best of 4, 5 metrics", "one reduced model as good", (_S,), best_study((*ORDER[:2], FULL))
    ),
    Scenario("order of 3 components, 5 metrics", "as published", (_C,), order_study(ORDER)),
    Scenario("order of 3 components, 5 metrics", "no effect", (_S, _C), order_study(_EQUAL)),
    Scenario("order of 3 components, 5 metrics", "the other way round", (_S,), order_study(ORDER[::-1])),
    Scenario(
        "losses of 0.60 and 0.68, two metrics", "exactly right", (_C,), loss_study(ORDER[2], ORDER[2], _TWO)
    ),
    Scenario(
        "losses of 1.76 and 1.90, two metrics", "exactly right", (_C,), loss_study(ORDER[0], ORDER[0], _TWO)
    ),
    Scenario("losses of 1.76 and 1.90, two metrics", "no effect", (_S,), loss_study(ORDER[0], FULL, _TWO)),
)
"""Claims about these very subjects."""

OTHER_SUBJECTS = (
    Scenario("one direction is worse", "no effect", (_S, _C), other_subjects_study(_direction_helps, _NONE)),
    Scenario("one direction is worse", "by 0.60", (_C,), other_subjects_study(_direction_helps, _PUBLISHED)),
    Scenario(
        "full model best of 4, 4 metrics",
        "as published",
        (_C,),
        other_subjects_study(_full_is_best, _PUBLISHED),
    ),
    Scenario(
        "full model best of 4, 4 metrics", "no effect", (_S, _C), other_subjects_study(_full_is_best, _NONE)
    ),
    Scenario(
        "order of 3 components, 4 metrics", "as published", (_C,), other_subjects_study(_ordered, _PUBLISHED)
    ),
    Scenario(
        "order of 3 components, 4 metrics", "no effect", (_S, _C), other_subjects_study(_ordered, _NONE)
    ),
    Scenario("A is better than B", "no difference", (_S, _C), lead_study(0.0)),
    Scenario("A is better than B", "by 3 points", (_C,), lead_study(0.03)),
    Scenario("A is better than B", "by 6 points", (_C,), lead_study(0.06)),
    Scenario("the best is ahead, 2 models", "no effect", (_S,), headline_study(2)),
    Scenario("the best is ahead, 12 models", "no effect", (_S,), headline_study(12)),
)
"""Claims about models on other subjects of the same kind."""
