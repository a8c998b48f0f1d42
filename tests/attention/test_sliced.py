"""Attention in slices: how many, and only where gradients are wanted are they computed again."""

import pytest
import torch
from torch import Tensor

from bench.attention import sliced
from bench.dropout import Dropped
from tests.attention.cases import SCALE, SEED, assert_close, random_inputs, results

ROW_BYTES = 7 * 8  # one query's row of the matrix


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """How many pairs and queries each slice had."""
    seen: list[tuple[int, int]] = []
    original = sliced._attend_slice

    def counting(q: Tensor, *rest: object) -> Tensor:
        seen.append((q.size(0), q.size(1)))
        return original(q, *rest)  # pyright: ignore[reportArgumentType] - the rest is the original's

    monkeypatch.setattr(sliced, "_attend_slice", counting)
    return seen


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(12, [(2, 6)] * 3, id="two pairs"),
        pytest.param(24, [(4, 6), (2, 6)], id="four pairs and the rest"),
        pytest.param(4, [(1, 4), (1, 2)] * 6, id="four queries of a pair and the rest"),
        pytest.param(0, [(1, 1)] * 36, id="less than a query"),
    ],
)
def test_slices_give_the_outputs_and_gradients_of_the_whole(
    rows: int, expected: list[tuple[int, int]], slices: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sliced, "MATRIX_BUDGET_BYTES", rows * ROW_BYTES)
    inputs = random_inputs(6, 7, 4, 4)
    found = results(inputs, "torch", 0.5)
    assert slices[: len(expected)] == expected
    assert sorted(slices[len(expected) :]) == sorted(expected)  # once more for the gradient
    assert_close(found, results(inputs, "reference", 0.5), 1e-12)


def test_without_gradients_every_slice_is_computed_once(
    slices: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sliced, "MATRIX_BUDGET_BYTES", 12 * ROW_BYTES)
    q, k, v, _ = random_inputs(6, 7, 4, 4)
    with torch.no_grad():
        out = sliced.attend(q, k, v, SCALE, Dropped.at(0.5, SEED))
    assert out.shape == (2, 3, 6, 4)
    assert slices == [(2, 6)] * 3
