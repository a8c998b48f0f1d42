"""Which probabilities are kept: the same in every backend, at the given rate, independent of each other."""

import itertools

import pytest
import torch
from torch import Tensor

from bench.attention import attention
from bench.attention.kept import factors
from bench.dropout import Dropped
from tests.attention.cases import FAST

PAIRS, QUERIES, KEYS = 12, 100, 130


def kept(rate: float = 0.1, seed: int = 5) -> Tensor:
    """Return zeros and ones ``(pairs, queries, keys)``."""
    matrix = factors(Dropped.at(rate, seed), range(PAIRS), range(QUERIES), KEYS, torch.float64)
    return (matrix > 0).double()


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.5, 0.9])
def test_share_of_the_dropped_is_the_rate(rate: float) -> None:
    matrix = kept(rate)
    deviation = (rate * (1 - rate) / matrix.numel()) ** 0.5
    assert abs(1 - matrix.mean().item() - rate) < 4 * deviation + 2**-16


def test_mean_of_the_factors_is_one() -> None:
    matrix = factors(Dropped.at(0.3, 5), range(PAIRS), range(QUERIES), KEYS, torch.float64)
    assert matrix.unique().numel() == 2
    assert matrix.mean().item() == pytest.approx(1, abs=4 * (0.3 / 0.7 / matrix.numel()) ** 0.5)


def correlation(one: Tensor, other: Tensor) -> float:
    """Return the correlation of two sets of zeros and ones in deviations of independent ones."""
    pairs = torch.stack([one.flatten(), other.flatten()])
    return torch.corrcoef(pairs)[0, 1].item() * one.numel() ** 0.5


@pytest.mark.parametrize("shift", [*itertools.product((0, 1), (0, 1, 3), (0, 1, 2, 5, 8, 16))][1:])
def test_neighbours_are_independent(shift: tuple[int, int, int]) -> None:
    matrix = kept(0.3)
    a, b, c = shift
    moved, rest = matrix[a:, b:, c:], matrix[: PAIRS - a, : QUERIES - b, : KEYS - c]
    assert abs(correlation(moved, rest)) < 4.5


@pytest.mark.parametrize("other", [6, 5 + 2**32, 5 + 2**63])
def test_seeds_are_independent(other: int) -> None:
    assert abs(correlation(kept(0.3), kept(0.3, other))) < 4.5


def test_a_part_of_the_matrix_is_that_of_the_whole() -> None:
    part = factors(Dropped.at(0.3, 5), range(3, 7), range(20, 31), 50, torch.float64)
    whole = factors(Dropped.at(0.3, 5), range(PAIRS), range(QUERIES), KEYS, torch.float64)
    assert torch.equal(part, whole[3:7, 20:31, :50])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("backend", FAST)
def test_backends_drop_these(backend: str, dtype: torch.dtype) -> None:
    # With equal logits and the identity as values, the output is the matrix of the factors over the number of keys.
    zeros = torch.zeros(PAIRS // 4, 4, QUERIES, 2, dtype=dtype)
    values = torch.eye(KEYS, dtype=dtype).expand(PAIRS // 4, 4, -1, -1)
    keys = torch.zeros(PAIRS // 4, 4, KEYS, 2, dtype=dtype)
    out = attention(zeros, keys, values, scale=1.0, dropped=Dropped.at(0.1, 5), backend=backend)
    assert torch.equal((out.flatten(0, 1) > 0).double(), kept())
