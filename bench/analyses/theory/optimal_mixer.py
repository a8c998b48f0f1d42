"""Whether the paper's closed form of the best whitened mixer is optimal: its second proposition.

Source: MedMamba paper, section "Principle I: Spatial Centralization via Channel Mixing", proposition on optimal
mixing. With A = Sigma_n + sigma^2 I and K = A^(-1/2) Sigma_s A^(-1/2), the mixers of rank r with M A M' = I are
M = U' A^(-1/2), U'U = I, and the claim is that U of the first r eigenvectors of K maximises I(z; s), at
1/2 sum of log(1 + lambda_i(K)).

The paper's I(z; s) adds the readout noise of variance sigma^2 after the mixer; its proof replaces that by
1/2 log det(I + U'KU), which is I(z; s) with the noise added before the mixer. Both are checked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bench.analyses.theory.noise_suppression import ClassMoments, between_class_scatter
from bench.analyses.theory.record import Check, Curve, verdict

N_CHANNELS = 10
N_DRAWS = 3
N_RANDOM = 200
N_STARTS = 4
RANKS = (1, 2, 3, 5, 8)
N_STEPS = 200
LEARNING_RATE = 0.05
TOLERANCE = 1e-6
"""The least information, in nats, by which a mixer must beat the closed form to count as better."""


@dataclass(frozen=True)
class Problem:
    """Covariances of signal and nuisance, ``(C, C)`` float64, and the variance of the readout noise."""

    name: str
    signal: Tensor
    nuisance: Tensor
    noise: float

    @property
    def whitener(self) -> Tensor:
        """A^(-1/2)."""
        values, vectors = torch.linalg.eigh(
            self.nuisance + self.noise * torch.eye(len(self.nuisance)).double()
        )
        return vectors @ torch.diag(values.rsqrt()) @ vectors.T

    @property
    def whitened_signal(self) -> Tensor:
        """K."""
        return self.whitener @ self.signal @ self.whitener


def closed_form(problem: Problem, r: int) -> tuple[Tensor, float]:
    """Return the proposition's U ``(C, r)`` and its optimal value in nats."""
    values, vectors = torch.linalg.eigh(problem.whitened_signal)
    top = values.flip(0)[:r].clamp(min=0)
    return vectors.flip(1)[:, :r], float(0.5 * torch.log1p(top).sum())


def information_in_proof(problem: Problem, u: Tensor) -> Tensor:
    """Return 1/2 log det(I + U'KU) in nats: the readout noise enters before the mixer. ``u`` is ``(..., C, r)``."""
    return 0.5 * torch.logdet(torch.eye(u.shape[-1]).double() + u.mT @ problem.whitened_signal @ u)


def information_as_defined(problem: Problem, u: Tensor) -> Tensor:
    """Return the paper's I(z; s) in nats for M = U' A^(-1/2): the readout noise enters after the mixer."""
    mixer = u.mT @ problem.whitener
    readout = problem.noise * torch.eye(u.shape[-1]).double()
    rest = mixer @ problem.nuisance @ mixer.mT + readout
    return 0.5 * (torch.logdet(rest + mixer @ problem.signal @ mixer.mT) - torch.logdet(rest))


Objective = Callable[[Problem, Tensor], Tensor]


def random_best(problem: Problem, r: int, objective: Objective, generator: torch.Generator) -> float:
    """Return the best of random feasible mixers, in nats."""
    drawn = torch.randn(N_RANDOM, len(problem.signal), r, generator=generator, dtype=torch.float64)
    return float(objective(problem, torch.linalg.qr(drawn)[0]).max())


def gradient_best(problem: Problem, r: int, objective: Objective, generator: torch.Generator) -> float:
    """Return the best that gradient ascent over feasible mixers finds from several random starts, in nats.

    Feasible by construction: U is the orthonormal factor of a free matrix.
    """
    free = torch.randn(N_STARTS, len(problem.signal), r, generator=generator, dtype=torch.float64)
    free.requires_grad_()
    optimiser = torch.optim.Adam([free], LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, N_STEPS)
    for _ in range(N_STEPS):
        optimiser.zero_grad()
        loss = -objective(problem, torch.linalg.qr(free)[0]).sum()
        loss.backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return float(objective(problem, torch.linalg.qr(free)[0]).max())


def random_problems(generator: torch.Generator) -> list[Problem]:
    """Return problems with random covariances of unequal directions; the signal has half the rank."""

    def covariance(rank: int) -> Tensor:
        factor = torch.randn(N_CHANNELS, rank, generator=generator, dtype=torch.float64)
        scale = torch.logspace(-1, 0.5, rank, dtype=torch.float64)
        return factor @ torch.diag(scale) @ factor.T / rank

    return [
        Problem(
            f"random covariances {number + 1}", covariance(N_CHANNELS // 2), covariance(N_CHANNELS), noise=0.5
        )
        for number in range(N_DRAWS)
    ]


def data_problem(name: str, moments: ClassMoments) -> Problem:
    """Return the problem of a dataset's training part: scatter between the classes' means, and all other covariance.

    The readout noise has a tenth of the mean variance of a channel.
    """
    signal = between_class_scatter(moments)["means"]
    total = total_covariance(moments)
    return Problem(
        name,
        torch.from_numpy(signal),
        torch.from_numpy(_without_rounding(total - signal, float(np.trace(total)))),
        float(np.trace(total)) / len(total) / 10,
    )


def total_covariance(moments: ClassMoments) -> NDArray[np.float64]:
    """Return the covariance ``(C, C)`` of all channel vectors: within the classes, and of the classes' centres."""
    centre = moments.mean.mean(axis=1)
    centre = centre - moments.share @ centre
    between = np.einsum("k,kc,kd->cd", moments.share, centre, centre)
    return np.einsum("k,kcd->cd", moments.share, moments.covariance) + between


def _without_rounding(covariance: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return a covariance without negative eigenvalues from rounding; larger negative ones raise an error."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    assert values.min() >= -1e-6 * scale, f"not a covariance: eigenvalue {values.min()} at a trace of {scale}"
    return (vectors * np.clip(values, 0.0, None)) @ vectors.T


@dataclass(frozen=True)
class Outcome:
    """Information in nats by rank: the formula's value, the closed form's mixer, and the best mixer found by search."""

    problem: str
    ranks: NDArray[np.float64]
    formula: NDArray[np.float64]
    closed: NDArray[np.float64]
    random: NDArray[np.float64]
    gradient: NDArray[np.float64]

    @property
    def beaten_by(self) -> float:
        """By how much the best mixer found is better than the closed form's, over all ranks."""
        return float((np.maximum(self.random, self.gradient) - self.closed).max())


def ranks_for(n_channels: int) -> list[int]:
    """Return the ranks to try: small ones, and the number of channels minus one."""
    return sorted({r for r in RANKS if r < n_channels} | {n_channels - 1})


def compare(problem: Problem, objective: Objective, generator: torch.Generator) -> Outcome:
    """Compare the closed form with searched mixers at the ranks of `ranks_for`."""
    rows = []
    for r in ranks_for(len(problem.signal)):
        u, value = closed_form(problem, r)
        others = (search(problem, r, objective, generator) for search in (random_best, gradient_best))
        rows.append((r, value, float(objective(problem, u)), *others))
    return Outcome(problem.name, *np.array(rows).T)


def check_optimal_mixer(problems: Sequence[Problem], generator: torch.Generator) -> list[Check]:
    """Check the proposition on the objective of its proof and on the objective of its statement."""
    return [
        _check(
            "2a", "objective of the proof: noise before the mixer", information_in_proof, problems, generator
        ),
        _check(
            "2b", "objective as defined: noise after the mixer", information_as_defined, problems, generator
        ),
    ]


def _check(
    number: str, about: str, objective: Objective, problems: Sequence[Problem], generator: torch.Generator
) -> Check:
    found = [compare(problem, objective, generator) for problem in problems]
    worst = max(found, key=lambda comparison: comparison.beaten_by)
    off = max(float(np.abs(comparison.closed - comparison.formula).max()) for comparison in found)
    reached = max(float((comparison.closed - comparison.gradient).max()) for comparison in found)
    n_beaten = sum(comparison.beaten_by > TOLERANCE for comparison in found)
    by = f", by up to {worst.beaten_by:.2g} nats ({worst.problem})" if n_beaten else ""
    return Check(
        number=number,
        about=about,
        claim=(
            "Among mixers of rank r that whiten the noise, the first r eigendirections of the whitened signal "
            "covariance give the most information on the signal: half the sum of log(1 + eigenvalue)."
        ),
        checked=(
            f"The closed form against {N_RANDOM} random mixers and gradient ascent from {N_STARTS} starts under the "
            f"whitening constraint, for r in {RANKS} and C - 1; it holds if none is better and the value is the "
            "formula's."
        ),
        on="; ".join(problem.name for problem in problems),
        result=(
            f"beaten in {n_beaten} of {len(found)} problems{by}; its value is off the formula by {off:.2g} nats at "
            f"most; gradient ascent ends {max(reached, 0.0):.2g} nats below it at most"
        ),
        verdict=verdict(n_beaten == 0 and off <= TOLERANCE),
        values={"n_beaten": n_beaten, "beaten_by_nats": worst.beaten_by, "off_formula_nats": off},
        x_label="r, rank of the mixer",
        curves=_curves(worst),
    )


def _curves(outcome: Outcome) -> tuple[Curve, ...]:
    x = tuple(map(float, outcome.ranks))
    lines = {
        "formula": outcome.formula, "closed form's mixer": outcome.closed,
        "gradient ascent": outcome.gradient, "best random": outcome.random,
    }  # fmt: skip
    panel = f"information, nats ({outcome.problem})"
    return tuple(Curve(panel=panel, label=label, x=x, y=tuple(map(float, y))) for label, y in lines.items())
