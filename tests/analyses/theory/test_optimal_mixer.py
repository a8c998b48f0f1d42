"""The best whitened mixer against hand-computed values, and the objective for which it is not the best."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from bench.analyses.theory.noise_suppression import ClassMoments, class_moments
from bench.analyses.theory.optimal_mixer import (
    Problem,
    check_optimal_mixer,
    closed_form,
    data_problem,
    gradient_best,
    information_as_defined,
    information_in_proof,
    random_best,
    random_problems,
    total_covariance,
)
from bench.train.part import Part


def diagonal(*values: float) -> Tensor:
    return torch.diag(torch.tensor(values, dtype=torch.float64))


# Sigma_n + sigma^2 I is the identity, so that K is the signal's covariance.
PLAIN = Problem("plain", diagonal(0.0, 3.0, 1.0), diagonal(0.5, 0.5, 0.5), noise=0.5)

# K is 1 in the first direction and 1.1 in the second, whose nuisance is large.
UNEQUAL = Problem("unequal", diagonal(1.0, 11.0), diagonal(0.0, 9.0), noise=1.0)


@pytest.mark.parametrize(("r", "value"), [(1, 0.5 * math.log(4)), (2, 0.5 * (math.log(4) + math.log(2)))])
def test_value_by_hand(r: int, value: float) -> None:
    u, found = closed_form(PLAIN, r)
    assert found == pytest.approx(value)
    assert float(information_in_proof(PLAIN, u)) == pytest.approx(value)


def test_direction_by_hand() -> None:
    u, _ = closed_form(PLAIN, 1)
    assert u.abs().flatten().tolist() == pytest.approx([0, 1, 0])


def test_mixer_whitens() -> None:
    problem = random_problems(torch.Generator().manual_seed(0))[0]
    mixer = closed_form(problem, 3)[0].T @ problem.whitener
    a = problem.nuisance + problem.noise * torch.eye(len(problem.nuisance)).double()
    torch.testing.assert_close(mixer @ a @ mixer.T, torch.eye(3).double())


@pytest.mark.parametrize("search", [random_best, gradient_best])
def test_search_does_not_beat_it_in_the_proofs_objective(search: Callable[..., float]) -> None:
    generator = torch.Generator().manual_seed(1)
    problem = random_problems(generator)[0]
    assert search(problem, 2, information_in_proof, generator) <= closed_form(problem, 2)[1] + 1e-9


def test_gradient_ascent_finds_it_in_the_proofs_objective() -> None:
    generator = torch.Generator().manual_seed(1)
    best = gradient_best(PLAIN, 1, information_in_proof, generator)
    assert best == pytest.approx(0.5 * math.log(4), abs=1e-4)


def test_it_is_not_the_best_for_the_information_as_defined() -> None:
    # With m^2 = 1 / (n + 1): ((n + s) m^2 + 1) / (n m^2 + 1) is 2 in the first direction, 3 / 1.9 in the second.
    first, second = torch.eye(2).double().split(1, dim=1)
    assert closed_form(UNEQUAL, 1)[0].abs().flatten().tolist() == pytest.approx([0, 1])
    assert float(information_as_defined(UNEQUAL, first)) == pytest.approx(0.5 * math.log(2))
    assert float(information_as_defined(UNEQUAL, second)) == pytest.approx(0.5 * math.log(3 / 1.9))


def test_both_objectives_agree_without_readout_noise() -> None:
    problem = Problem("quiet", diagonal(1.0, 2.0), diagonal(1.0, 3.0), noise=1e-12)
    u = closed_form(problem, 1)[0]
    assert float(information_as_defined(problem, u)) == pytest.approx(float(information_in_proof(problem, u)))


def test_verdicts_follow_from_the_problems() -> None:
    checks = check_optimal_mixer([PLAIN, UNEQUAL], torch.Generator().manual_seed(0))
    assert [one.verdict for one in checks] == ["holds", "does not hold here"]
    assert checks[0].values["n_beaten"] == 0
    assert checks[1].values["beaten_by_nats"] == pytest.approx(0.5 * math.log(2 * 1.9 / 3), abs=1e-4)


def test_problem_of_data_splits_the_total_covariance() -> None:
    share = torch.tensor([0.5, 0.5]).double().numpy()
    mean = torch.tensor([[[1.0, 0.0]], [[-1.0, 0.0]]]).double().numpy()
    covariance = torch.stack([diagonal(3.0, 2.0)] * 2).numpy()
    problem = data_problem("data", ClassMoments(share, mean, covariance))
    torch.testing.assert_close(problem.signal, diagonal(1.0, 0.0))
    # By the law of total variance the first channel has 3 within the classes and 1 between them, 4 in total.
    torch.testing.assert_close(problem.nuisance, diagonal(3.0, 2.0))
    assert problem.noise == pytest.approx(0.3)


def test_signal_and_nuisance_of_windows_with_offsets_are_their_covariance() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [10, 20, 30])
    offsets = np.array([[0.0, 5.0], [9.0, 0.0], [-4.0, 1.0]])
    windows = rng.normal(size=(60, 8, 2)) + offsets[labels][:, None]
    part = Part(windows.astype(np.float32), labels, np.array(["a"] * 60), np.arange(60))
    moments = class_moments(part, 3)
    problem = data_problem("data", moments)
    total = np.cov(windows.reshape(-1, 2).T, bias=True)
    np.testing.assert_allclose(problem.signal + problem.nuisance, total, rtol=1e-5)
    np.testing.assert_allclose(total_covariance(moments), total, rtol=1e-5)
    assert float(torch.linalg.eigvalsh(problem.nuisance)[0]) > 0.5
