"""Attention: the mechanism by any backend, and the projections."""

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from bench.errors import UsageError
from bench.models.layers.attention import Attention, FullAttention, attend


def qkv(width: int = 4, value_width: int = 4, n_queries: int = 6, n_keys: int = 7) -> list[Tensor]:
    draws = torch.Generator().manual_seed(0)
    sizes = [(2, 3, n_queries, width), (2, 3, n_keys, width), (2, 3, n_keys, value_width)]
    return [torch.randn(size, generator=draws, dtype=torch.float64).requires_grad_() for size in sizes]


def by_hand(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * scale, dim=-1) @ v


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


@pytest.mark.parametrize("backend", ["reference", "torch", "native"])
def test_attend_is_the_same_by_every_backend(backend: str) -> None:
    inputs = qkv()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        expected = attend(*inputs, dropout=0.5)
        torch.manual_seed(3)
        found = attend(*inputs, dropout=0.5, backend=backend)
    torch.testing.assert_close(found, expected)


def test_without_dropout_no_random_number_is_drawn() -> None:
    before = torch.get_rng_state()
    attend(*qkv())
    assert torch.equal(torch.get_rng_state(), before)


def test_counted_operations_are_torchs() -> None:
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, torch.no_grad():
        attend(*qkv())
    assert counter.get_total_flops() == 2 * 3 * 6 * 7 * (4 + 4) * 2


def test_drops_the_same_when_checkpointing_runs_it_again() -> None:
    inputs = qkv()
    layer = FullAttention(0.5).train()

    def drawn(*tensors: Tensor, again: bool) -> tuple[Tensor, ...]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            output = checkpoint(layer, *tensors, use_reentrant=False) if again else layer(*tensors)
        assert isinstance(output, Tensor)
        return torch.autograd.grad(output.square().sum(), tensors)

    for again, once in zip(drawn(*inputs, again=True), drawn(*inputs, again=False), strict=True):
        torch.testing.assert_close(again, once)


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
