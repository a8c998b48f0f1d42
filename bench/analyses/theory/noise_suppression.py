"""Whether trained channel mixing keeps an informative subspace and contracts the rest: the first proposition's premise.

Source: MedMamba paper, section "Principle I: Spatial Centralization via Channel Mixing", proposition on noise
suppression. With M the Jacobian of the layer at a channel vector, U an orthonormal basis of the informative subspace
and V one of its complement, the smallest constants of its two inequalities are

    gamma = largest singular value of M V        1 - epsilon = smallest singular value of M U, at most 1

and its premise is gamma < 1 - epsilon; `noise_implication` checks what follows from it. The paper names no subspace;
here it is spanned by the first r directions between the classes of the training part.

For r = 1 no weights can fulfil the premise: LayerNorm maps the same for all channels, and along the (centred) point, to
nothing, so that M is the identity on a plane, and a plane meets every complement of C - 1 dimensions: gamma >= 1.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.theory.record import Check, Curve, verdict
from bench.train.part import Part

BATCH = 256
N_POINTS = 300
ENOUGH = 0.95
"""The premise holds for a subspace if it holds at this share of the points, in every seed."""

CLAIM = (
    "The channel mixer suppresses noise: its Jacobian keeps the informative subspace up to epsilon and contracts the "
    "complement by gamma, with gamma < 1 - epsilon."
)


@dataclass(frozen=True)
class ClassMoments:
    """Moments of the channel vectors of a part, by class.

    ``share`` (n_classes,) of the windows; ``mean`` (n_classes, n_times, n_channels) at each step; ``covariance``
    (n_classes, n_channels, n_channels) over windows and steps. Classes without a window have zeros.
    """

    share: NDArray[np.float64]
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


def class_moments(part: Part, n_classes: int) -> ClassMoments:
    """Return the moments of a part, read batch by batch."""
    _, n_times, n_channels = part.windows.shape
    n = np.bincount(part.part_labels, minlength=n_classes).astype(np.float64)
    sums = np.zeros((n_classes, n_times, n_channels))
    products = np.zeros((n_classes, n_channels, n_channels))
    for windows, labels in part.batches(np.arange(len(part)), BATCH):
        series = windows.numpy().astype(np.float64)
        np.add.at(sums, labels.numpy(), series)
        np.add.at(products, labels.numpy(), series.mT @ series)
    at_least_one = np.maximum(n, 1.0)
    mean = sums / at_least_one[:, None, None]
    centre = mean.mean(axis=1)
    covariance = products / (at_least_one * n_times)[:, None, None] - np.einsum("kc,kd->kcd", centre, centre)
    return ClassMoments(n / n.sum(), mean, covariance)


def between_class_scatter(moments: ClassMoments) -> dict[str, NDArray[np.float64]]:
    """Return two matrices ``(n_channels, n_channels)`` whose first eigenvectors separate the classes most.

    ``means``: scatter of the classes' means at each step of the window about the common one; averaged over steps
    first it would be zero, since every window is standardised. ``covariances``: mean square of the classes'
    covariances minus the common covariance, which needs no aligned phase.
    """
    share = moments.share
    mean = moments.mean - np.einsum("k,ktc->tc", share, moments.mean)
    covariance = moments.covariance - np.einsum("k,kcd->cd", share, moments.covariance)
    return {
        "means": np.einsum("k,ktc,ktd->cd", share, mean, mean) / mean.shape[1],
        "covariances": np.einsum("k,kce,ked->cd", share, covariance, covariance),
    }


def eigenbasis(scatter: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the eigenvectors of a symmetric matrix as columns, the largest eigenvalue first."""
    return np.linalg.eigh(scatter)[1][:, ::-1].copy()


def jacobians(layer: nn.Module, points: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the layer's Jacobian in evaluation mode at each channel vector: ``(n, C)`` to ``(n, C, C)``."""
    exact = copy.deepcopy(layer).eval().double()
    found = torch.func.vmap(torch.func.jacrev(exact))(torch.from_numpy(points).double())
    return found.detach().numpy()


@dataclass(frozen=True)
class Constants:
    """The proposition's constants at each point ``(n,)``; ``floor`` is 1 - epsilon."""

    gamma: NDArray[np.float64]
    floor: NDArray[np.float64]

    @property
    def premise(self) -> NDArray[np.bool_]:
        """Whether gamma < 1 - epsilon, per point; both are then below one as the proposition requires."""
        return self.gamma < self.floor


def constants(matrices: NDArray[np.float64], basis: NDArray[np.float64], r: int) -> Constants:
    """Return the smallest gamma and epsilon that fit.

    Parameters
    ----------
    matrices
        Jacobians ``(n, C, C)``.
    basis
        Orthonormal columns ``(C, C)``: the first ``r`` span the informative subspace, the others its complement.
    """
    kept = np.linalg.svd(matrices @ basis[:, :r], compute_uv=False)[:, -1]
    rest = np.linalg.svd(matrices @ basis[:, r:], compute_uv=False)[:, 0]
    return Constants(np.asarray(rest, dtype=np.float64), np.minimum(kept, 1.0))


def ratio_falls(
    matrices: NDArray[np.float64], points: NDArray[np.floating], basis: NDArray[np.float64], r: int
) -> NDArray[np.bool_]:
    """Return whether the ratio of nuisance to signal of each point's two components is lower after the Jacobian.

    ``points`` is ``(n, C)``; the other arguments are those of `constants`.
    """
    signal = points @ basis[:, :r] @ basis[:, :r].T
    nuisance = points - signal
    mixed = [np.linalg.norm(np.einsum("ncd,nd->nc", matrices, part), axis=1) for part in (nuisance, signal)]
    plain = [np.linalg.norm(part, axis=1) for part in (nuisance, signal)]
    return mixed[0] * plain[1] < mixed[1] * plain[0]


def draw_points(part: Part, n_points: int, generator: np.random.Generator) -> NDArray[np.float32]:
    """Return channel vectors ``(n, C)``: one random step of each of at most ``n_points`` random windows."""
    rows = part.rows[np.sort(generator.permutation(len(part))[:n_points])]
    steps = generator.integers(part.windows.shape[1], size=len(rows))
    return np.asarray(part.windows[rows])[np.arange(len(rows)), steps]


@dataclass(frozen=True)
class Best:
    """The subspace whose premise holds at most points in the worst seed; among equals the one with the smallest gap."""

    kind: str
    r: int
    share: float
    gamma: float
    floor: float


def best_subspace(found: Sequence[NDArray[np.float64]], bases: Mapping[str, NDArray[np.float64]]) -> Best:
    """Return the best subspace over kinds and ranks; gamma and 1 - epsilon are medians over points and seeds.

    ``found`` are the Jacobians ``(n, C, C)`` of each seed.
    """
    candidates = []
    for kind, basis in bases.items():
        for r in range(1, len(basis)):
            at = [constants(of_seed, basis, r) for of_seed in found]
            gamma = float(np.median([of_seed.gamma for of_seed in at]))
            floor = float(np.median([of_seed.floor for of_seed in at]))
            share = min(float(of_seed.premise.mean()) for of_seed in at)
            candidates.append(Best(kind, r, share, gamma, floor))
    return max(candidates, key=lambda candidate: (candidate.share, candidate.floor - candidate.gamma))


def subspace_bases(moments: ClassMoments) -> dict[str, NDArray[np.float64]]:
    """Return, for each kind of scatter, the basis ``(C, C)`` whose first r columns span the informative subspace."""
    return {kind: eigenbasis(scatter) for kind, scatter in between_class_scatter(moments).items()}


def check_noise_suppression(
    cells: AnalysedCells,
    found: Sequence[NDArray[np.float64]],
    bases: Mapping[str, NDArray[np.float64]],
    points: NDArray[np.float32],
) -> Check:
    """Check the premise for every subspace: of either kind, of 1 to C - 1 directions, over all trained layers.

    ``found`` are the Jacobians ``(n, C, C)`` of each seed at ``points`` ``(n, C)``; there are two channels at least.
    """
    best = best_subspace(found, bases)
    least_gamma = min(
        float(constants(of_seed, bases[kind], 1).gamma.min()) for of_seed in found for kind in bases
    )
    falls = {
        kind: np.array(
            [[ratio_falls(of_seed, points, basis, r).mean() for r in _ranks(basis)] for of_seed in found]
        )
        for kind, basis in bases.items()
    }
    lowest, highest = (float(edge([edge(shares) for shares in falls.values()])) for edge in (np.min, np.max))
    return Check(
        number="1a",
        about=cells.dataset,
        claim=CLAIM,
        checked=(
            "Gamma and epsilon of the trained mixer's Jacobian, for U the first r directions between "
            "classes (of their means at each step; of their covariances), every r from 1 to C - 1. It holds if some r "
            f"has it at {ENOUGH:.0%} of the points in every seed. Beside it how often the ratio of a point's own two "
            "components falls, premise or not."
        ),
        on=(
            f"{cells.dataset} ({cells.data.kind} data), {cells.model}, seeds {', '.join(map(str, cells.seeds))}, "
            f"{len(points)} channel vectors of test windows, C = {points.shape[1]}"
        ),
        result=(
            f"best with r = {best.r}, class {best.kind}: gamma < 1 - epsilon at {best.share:.0%} of the points in the "
            f"worst seed, median gamma {best.gamma:.3f}, median 1 - epsilon {best.floor:.3f}. With r = 1 the least "
            f"gamma is {least_gamma:.3f}. A point's own ratio falls at {lowest:.0%} to {highest:.0%} of the points, "
            "depending on seed and r"
        ),
        verdict=verdict(best.share >= ENOUGH),
        void=cells.void,
        kind=cells.data.kind,
        values={
            "best_r": best.r,
            "premise_share": best.share,
            "median_gamma": best.gamma,
            "median_one_minus_epsilon": best.floor,
            "least_gamma_of_r_1": least_gamma,
            "ratio_falls_least": lowest,
            "ratio_falls_most": highest,
        },
        x_label="r, dimension of U",
        curves=_curves(found, bases, falls),
    )


def not_checked(about: str, why: str) -> Check:
    """Return the check for a case in which nothing can be checked."""
    return Check(
        number="1a", about=about, claim=CLAIM, checked="nothing", on="nothing", result=why,
        verdict="not checked",
    )  # fmt: skip


def _ranks(basis: NDArray[np.float64]) -> range:
    return range(1, len(basis))


def _curves(
    found: Sequence[NDArray[np.float64]],
    bases: Mapping[str, NDArray[np.float64]],
    falls: Mapping[str, NDArray[np.float64]],
) -> tuple[Curve, ...]:
    """Return gamma and 1 - epsilon (median and quartiles over points and seeds) and the shares, over r."""
    curves, shares = [], []
    for kind, basis in bases.items():
        over = [[constants(of_seed, basis, r) for of_seed in found] for r in _ranks(basis)]
        x = tuple(map(float, _ranks(basis)))
        for name, label in (("gamma", "gamma"), ("floor", "1 - epsilon")):
            values = [np.concatenate([getattr(of_seed, name) for of_seed in at]) for at in over]
            low, middle, high = (tuple(float(np.quantile(v, q)) for v in values) for q in (0.25, 0.5, 0.75))
            curves.append(Curve(panel=f"U from class {kind}", label=label, x=x, y=middle, low=low, high=high))
        premise = tuple(float(np.mean([of_seed.premise.mean() for of_seed in at])) for at in over)
        falling = tuple(map(float, falls[kind].mean(axis=0)))
        for y, label in ((premise, "premise"), (falling, "ratio falls")):
            shares.append(Curve(panel="share of points", label=f"{label}, {kind}", x=x, y=y))
    return (*curves, *shares)
