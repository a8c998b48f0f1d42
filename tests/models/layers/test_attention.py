"""Attention: the mechanism, long inputs in slices with the same gradients and dropout, and the projections."""

from typing import Any

import pytest
import torch
from torch import Tensor

from bench.errors import UsageError
from bench.models.layers import attention
from bench.models.layers.attention import Attention, FullAttention, attend


def qkv(width: int = 4, value_width: int = 4, n_queries: int = 6, n_keys: int = 7) -> list[Tensor]:
    draws = torch.Generator().manual_seed(0)
    sizes = [(2, 3, n_queries, width), (2, 3, n_keys, width), (2, 3, n_keys, value_width)]
    return [torch.randn(size, generator=draws, dtype=torch.float64).requires_grad_() for size in sizes]


def by_hand(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * scale, dim=-1) @ v


def gradients(output: Tensor, inputs: list[Tensor]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(output.square().sum(), inputs)


ROW_BYTES = 7 * 8  # one query's row of the matrix


@pytest.fixture
def tiny_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pairs of window and head at once: six pairs in three slices."""
    monkeypatch.setattr(attention, "MATRIX_BUDGET_BYTES", 2 * 6 * ROW_BYTES)


@pytest.fixture
def n_slices(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """How many pairs and queries each checkpointed slice had."""
    seen: list[tuple[int, int]] = []
    original = attention.checkpoint

    def counting(function: object, *tensors: Tensor, **settings: Any) -> Tensor:
        seen.append((tensors[0].size(0), tensors[0].size(2)))
        return original(function, *tensors, **settings)

    monkeypatch.setattr(attention, "checkpoint", counting)
    return seen


def test_attend_is_softmax_attention() -> None:
    q, k, v = qkv()
    torch.testing.assert_close(attend(q, k, v), by_hand(q, k, v, 0.5))


@pytest.mark.parametrize(("width", "value_width"), [(5, 4), (4, 9)])
def test_values_may_be_of_another_width(width: int, value_width: int) -> None:
    q, k, v = qkv(width, value_width)
    torch.testing.assert_close(attend(q, k, v, scale=0.3), by_hand(q, k, v, 0.3))


def test_default_scale_is_of_the_given_width() -> None:
    q, k, v = qkv(5, 4)
    torch.testing.assert_close(attend(q, k, v), by_hand(q, k, v, 5**-0.5))


def in_slices(q: Tensor, k: Tensor, v: Tensor, dropout: float) -> Tensor:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return attend(q, k, v, dropout=dropout)


# A rate so small that nothing is dropped takes the path of dropout and gives the result without it.
NEVER = 1e-12


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
    rows: int,
    expected: list[tuple[int, int]],
    n_slices: list[tuple[int, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attention, "MATRIX_BUDGET_BYTES", rows * ROW_BYTES)
    inputs = qkv()
    sliced = in_slices(*inputs, dropout=NEVER)
    assert n_slices == expected
    whole = attend(*inputs)
    torch.testing.assert_close(sliced, whole)
    for one, other in zip(gradients(sliced, inputs), gradients(whole, inputs), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.usefixtures("tiny_budget")
def test_slices_drop_the_same_probabilities_in_the_backward_pass(n_slices: list[tuple[int, int]]) -> None:
    # With the masks of one seed attention is a smooth function: its gradient has to be that of finite differences.
    assert torch.autograd.gradcheck(lambda q, k, v: in_slices(q, k, v, 0.5), qkv(), fast_mode=True)
    assert set(n_slices) == {(2, 6)}


@pytest.mark.usefixtures("tiny_budget")
def test_slices_drop_at_the_given_rate() -> None:
    q, k, _ = qkv(width=7)
    identity = torch.eye(7, dtype=torch.float64).expand(2, 3, 7, 7)
    probabilities = in_slices(q, k, identity, 0.5)
    assert 0.3 < (probabilities == 0).double().mean().item() < 0.7


@pytest.mark.usefixtures("tiny_budget")
def test_evaluation_is_never_sliced(n_slices: list[tuple[int, int]]) -> None:
    FullAttention(0.5).eval()(*qkv())
    assert n_slices == []


def test_a_matrix_within_the_budget_is_not_sliced(n_slices: list[tuple[int, int]]) -> None:
    FullAttention(0.5).train()(*qkv())
    assert n_slices == []


@pytest.mark.usefixtures("tiny_budget")
def test_training_in_slices_without_gradients(n_slices: list[tuple[int, int]]) -> None:
    with torch.no_grad():
        output = FullAttention(0.5).train()(*qkv())
    assert output.shape == (2, 3, 6, 4)
    assert n_slices == [(2, 6)] * 3


def bytes_kept(inputs: list[Tensor]) -> int:
    """Run attention with dropout and count what autograd keeps for the backward pass beside the inputs."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        in_slices(*inputs, dropout=0.5)
    return sum(kept.values()) - sum(one.untyped_storage().nbytes() for one in inputs)


def test_slices_keep_no_matrix_for_the_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = qkv(n_queries=200, n_keys=200)
    matrix = 2 * 3 * 200 * 200 * 8
    assert bytes_kept(inputs) >= 2 * matrix
    monkeypatch.setattr(attention, "MATRIX_BUDGET_BYTES", matrix // 10)
    assert bytes_kept(inputs) < matrix / 10


def test_full_attention_drops_probabilities_in_training_only() -> None:
    inputs = qkv()
    layer = FullAttention(0.5)
    assert not torch.equal(layer.train()(*inputs), layer(*inputs))
    assert torch.equal(layer.eval()(*inputs), layer(*inputs))


def test_heads_are_joined_in_order() -> None:
    class First(torch.nn.Module):
        """Keep the values of the first head only."""

        def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return torch.cat([v[:, :1], torch.zeros_like(v[:, 1:])], dim=1)

    layer = Attention(8, 2, First())
    with torch.no_grad():
        layer.out.weight.copy_(torch.eye(8))
        layer.out.bias.zero_()
        x = torch.randn(2, 5, 8)
        assert torch.equal(layer(x, x, x)[..., :4], layer.value(x)[..., :4])
        assert layer(x, x, x)[..., 4:].abs().max() == 0


def test_width_that_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(UsageError, match="d_model=10, n_heads=4"):
        Attention(10, 4, FullAttention(0.0))
