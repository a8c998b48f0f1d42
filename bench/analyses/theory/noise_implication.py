"""Whether a mixer that contracts the complement of a subspace lowers the ratio of nuisance to signal.

Source: MedMamba paper, section "Principle I: Spatial Centralization via Channel Mixing", proposition on noise
suppression: if gamma < 1 - epsilon, the ratio falls by at least gamma / (1 - epsilon). Whether trained mixers meet
that premise is another question, see `noise_suppression`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.analyses.theory.noise_suppression import constants
from bench.analyses.theory.record import Check, verdict

N_CHANNELS = 10
N_MIXERS = 300
N_POINTS = 20
ROUNDING = 1e-9

CLAIM = (
    "If the mixer's Jacobian keeps the informative subspace up to epsilon and contracts its complement by gamma, with "
    "gamma < 1 - epsilon, then mixing lowers the ratio of nuisance to signal, by at least gamma / (1 - epsilon)."
)


class Tally(NamedTuple):
    """The number of points at which the premise holds, and of those at which the ratio falls as far as claimed."""

    n_premise: int
    n_lower: int


def falls_as_claimed(
    matrices: NDArray[np.float64], points: NDArray[np.floating], basis: NDArray[np.float64], r: int
) -> Tally:
    """Count the points where the premise holds, and where the ratio of the point's components falls as claimed.

    Parameters
    ----------
    matrices, points
        Jacobians ``(n, C, C)`` and the points ``(n, C)`` they belong to.
    basis
        Orthonormal columns ``(C, C)``: the first ``r`` span the informative subspace, the others its complement.
    """
    found = constants(matrices, basis, r)
    signal = points @ basis[:, :r] @ basis[:, :r].T
    parts = (points - signal, signal)
    mixed = [np.linalg.norm(np.einsum("ncd,nd->nc", matrices, part), axis=1) for part in parts]
    plain = [np.linalg.norm(part, axis=1) for part in parts]
    # Compares products instead of ratios, so that a point without signal needs no division.
    lower = mixed[0] * plain[1] * found.floor <= found.gamma * mixed[1] * plain[0] * (1 + ROUNDING) + ROUNDING
    return Tally(int(found.premise.sum()), int((found.premise & lower).sum()))


def tally_trained(
    found: Sequence[NDArray[np.float64]],
    points: NDArray[np.floating],
    bases: Mapping[str, NDArray[np.float64]],
) -> Tally:
    """Count over the Jacobians ``(n, C, C)`` of each seed, all bases and all dimensions of the subspace."""
    counts = [
        falls_as_claimed(jacobians, points, basis, r)
        for jacobians in found
        for basis in bases.values()
        for r in range(1, len(basis))
    ]
    return Tally(sum(count.n_premise for count in counts), sum(count.n_lower for count in counts))


def constructed_mixer(
    r: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a matrix ``(C, C)`` that meets the premise, and its basis; images of both subspaces overlap."""
    basis, kept, rest = (np.linalg.qr(generator.normal(size=(N_CHANNELS, N_CHANNELS)))[0] for _ in range(3))
    floor = generator.uniform(0.1, 1.0)
    gains = generator.uniform(floor, 1.5, size=r)
    losses = generator.uniform(0.0, 0.99 * floor, size=N_CHANNELS - r)
    keeps = (kept[:, :r] * gains) @ basis[:, :r].T
    return keeps + (rest[:, r:] * losses) @ basis[:, r:].T, basis


def check_implication(trained: Mapping[str, Tally], generator: np.random.Generator) -> Check:
    """Check the implication on constructed mixers, and on the points of trained ones (by dataset) that meet it."""
    counts = []
    for number in range(N_MIXERS):
        r = 1 + number % (N_CHANNELS - 1)
        matrix, basis = constructed_mixer(r, generator)
        points = generator.normal(size=(N_POINTS, N_CHANNELS))
        counts.append(falls_as_claimed(np.broadcast_to(matrix, (N_POINTS, *matrix.shape)), points, basis, r))
    n_constructed, n_trained = (
        sum(count.n_premise for count in counts),
        sum(tally.n_premise for tally in trained.values()),
    )
    n = n_constructed + n_trained
    lower = sum(count.n_lower for count in (*counts, *trained.values()))
    met = (
        ", ".join(f"{name} {tally.n_premise:,}" for name, tally in trained.items() if tally.n_premise)
        or "none"
    )
    return Check(
        number="1b",
        about="the implication",
        claim=CLAIM,
        checked=(
            "The conclusion, for the two components of each point itself, wherever the premise is met. It holds if the "
            "ratio falls as far as claimed at every such point."
        ),
        on=(
            f"{N_MIXERS} constructed mixers of {N_CHANNELS} channels that meet the premise, {N_POINTS} random points "
            f"each; trained mixers of check 1a, over points, seeds and r: {met}"
        ),
        result=f"the ratio falls by at least gamma / (1 - epsilon) at {lower:,} of {n:,} points",
        verdict=verdict(lower == n > 0),
        values={"n_constructed": n_constructed, "n_trained": n_trained, "n_lower": lower},
    )
