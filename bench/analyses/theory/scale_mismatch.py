"""How far an event's duration can be from the nearest stride: the paper's third proposition, and the best strides.

Source: MedMamba paper, section "Principle II: Multi-Rate Temporal Decomposition", proposition on the worst-case scale
mismatch: d(tau; S) = min over m of |log tau - log s_m|, and its maximum over tau in [s_1, s_M] is half the largest
log(s_(m+1) / s_m).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench.analyses.theory.record import Check, Curve, verdict

STRIDES = (5, 10, 25)
"""The paper's strides, in all its experiments."""

N_GRID = 4001
N_DRAWS = 200
TOLERANCE = 1e-6


def mismatch(durations: ArrayLike, strides: Sequence[float]) -> NDArray[np.float64]:
    """Return d(tau; S) for each duration, in the log of the ratio."""
    gaps = np.abs(np.log(np.asarray(durations, dtype=np.float64))[..., None] - np.log(strides))
    return gaps.min(axis=-1)


def worst_mismatch(strides: Sequence[float]) -> float:
    """Return the closed form: half the largest log ratio of neighbouring strides; zero for a single one."""
    return float(np.diff(np.log(sorted(strides))).max(initial=0.0) / 2)


def searched_mismatch(strides: Sequence[float], low: float, high: float) -> float:
    """Return the largest mismatch over durations from ``low`` to ``high`` by search on a grid that is refined."""
    largest = 0.0
    for _ in range(4):
        grid = np.geomspace(low, high, N_GRID)
        found = mismatch(grid, strides)
        at = int(found.argmax())
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, N_GRID - 1)]
        largest = float(found[at])
    return largest


def best_with_ends(low: float, high: float, n_strides: int) -> list[float]:
    """Return the strides from ``low`` to ``high``, both included, with the least worst-case mismatch: equal ratios."""
    return [float(stride) for stride in np.geomspace(low, high, n_strides)]


def best_inside(low: float, high: float, n_strides: int) -> list[float]:
    """Return the strides with the least mismatch over all durations from ``low`` to ``high`` when ends are free too.

    Each stride lies in the middle of an equal part of the log range.
    """
    middles = (np.arange(n_strides) + 0.5) / n_strides
    return [float(stride) for stride in low * (high / low) ** middles]


def best_whole(low: int, high: int, n_strides: int) -> list[int]:
    """Return the whole strides from ``low`` to ``high``, both included, with the least worst-case mismatch."""
    inner = combinations(range(low + 1, high), n_strides - 2)
    return min(([low, *middle, high] for middle in inner), key=worst_mismatch)


def check_scale_mismatch(generator: np.random.Generator) -> list[Check]:
    """Check the formula, and whether an added stride always helps."""
    return [_check_formula(generator), _check_denser()]


def _check_formula(generator: np.random.Generator) -> Check:
    low, high = STRIDES[0], STRIDES[-1]
    drawn = [sorted(np.exp(generator.uniform(0, 5, size=n))) for n in generator.integers(2, 8, size=N_DRAWS)]
    off = max(
        abs(searched_mismatch(strides, strides[0], strides[-1]) - worst_mismatch(strides))
        for strides in [STRIDES, *drawn]
    )
    ends, whole, inside = best_with_ends(low, high, 3), best_whole(low, high, 3), best_inside(low, high, 3)
    free = searched_mismatch(inside, low, high)
    return Check(
        number="3a",
        about="formula",
        claim="The worst-case mismatch in log scale is half the largest log ratio of neighbouring strides.",
        checked=(
            "The formula against a search over the duration; then which three strides in [5, 25] minimise the mismatch "
            "over durations in [5, 25]."
        ),
        on=f"strides {_text(STRIDES)} and {N_DRAWS} random sets of 2 to 7 strides",
        result=(
            f"formula and search differ by {off:.1g} at most; {_text(STRIDES)}: {worst_mismatch(STRIDES):.3f}, a "
            f"factor of {np.exp(worst_mismatch(STRIDES)):.2f}; least with 5 and 25 kept: {_text(ends)}: "
            f"{worst_mismatch(ends):.3f}, in whole steps {_text(whole)}: {worst_mismatch(whole):.3f}; with free ends "
            f"{_text(inside)}: {free:.3f}"
        ),
        verdict=verdict(off <= TOLERANCE),
        values={
            "off": off, "paper": worst_mismatch(STRIDES), "best_with_ends": worst_mismatch(ends),
            "best_middle": ends[1], "best_whole": worst_mismatch(whole), "best_free": free,
        },
        x_label="duration of the event, steps",
        curves=tuple(_curve(strides, low, high) for strides in (STRIDES, ends, inside)),
    )  # fmt: skip


def _check_denser() -> Check:
    low, high = STRIDES[0], STRIDES[-1]
    before = worst_mismatch(STRIDES)
    added = [stride for stride in range(low + 1, high) if stride not in STRIDES]
    better = [stride for stride in added if worst_mismatch([*STRIDES, stride]) < before - TOLERANCE]
    useless = [stride for stride in added if stride not in better]
    example = (
        f"; adding {useless[0]} leaves it at {worst_mismatch([*STRIDES, useless[0]]):.3f}" if useless else ""
    )
    return Check(
        number="3b",
        about="denser scales",
        claim="Denser scale coverage on the log-time axis strictly improves the worst-case alignment.",
        checked="Every whole stride between 5 and 25 added to the three: does the worst-case mismatch fall?",
        on=f"strides {_text(STRIDES)} with one more",
        result=f"it falls for {len(better)} of {len(added)} added strides ({better[0]} to {better[-1]}){example}",
        verdict=verdict(not useless),
        values={"n_better": len(better), "n_added": len(added)},
    )


def _curve(strides: Sequence[float], low: float, high: float) -> Curve:
    grid = np.geomspace(low, high, 300)
    found = mismatch(grid, strides)
    return Curve(
        panel="mismatch, log of the ratio", label=_text(strides), x=tuple(map(float, grid)), y=tuple(map(float, found))
    )  # fmt: skip


def _text(strides: Sequence[float]) -> str:
    return f"({', '.join(f'{stride:.4g}' for stride in strides)})"
