"""Linear maps by oneDNN: torch's own but for rounding, and torch's own where that pays not or is asked for."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from bench.models.layers import linear
from bench.models.layers.linear import LEAST_TOKENS, Linear


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Shapes of the inputs of oneDNN's products."""
    seen: list[tuple[int, ...]] = []
    original = linear._product

    def counting(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        seen.append(tuple(x.shape))
        return original(x, weight, bias)

    monkeypatch.setattr(linear, "_product", counting)
    return seen


def tokens(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("strided", [True, False])
def test_is_torchs_map_with_its_gradients(bias: bool, strided: bool, products: list[tuple[int, ...]]) -> None:
    layer = Linear(24, 40, bias=bias)
    x = tokens(300, 3, 24).transpose(0, 1) if strided else tokens(3, 300, 24)
    leaves = [x.requires_grad_(), *layer.parameters()]
    weights = tokens(3, 300, 40)
    found = [layer(x), *torch.autograd.grad((layer(x) * weights).sum(), leaves)]
    plain = F.linear(x, layer.weight, layer.bias)
    expected = [plain, *torch.autograd.grad((plain * weights).sum(), leaves)]
    assert len(products) == 4  # twice forward, then the input's and the weights' gradient
    for ours, torchs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, torchs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("layer", "x"),
    [
        pytest.param(Linear(24, 40), tokens(LEAST_TOKENS - 1, 24), id="few tokens"),
        pytest.param(Linear(24, 3), tokens(LEAST_TOKENS, 24), id="few classes"),
        pytest.param(Linear(24, 40).double(), tokens(LEAST_TOKENS, 24).double(), id="float64"),
    ],
)
def test_the_rest_is_torchs(layer: Linear, x: Tensor, products: list[tuple[int, ...]]) -> None:
    assert torch.equal(layer(x), F.linear(x, layer.weight, layer.bias))
    assert products == []


def test_autocast_is_torchs(products: list[tuple[int, ...]]) -> None:
    with torch.autocast("cpu", torch.bfloat16):
        assert Linear(24, 40)(tokens(LEAST_TOKENS, 24)).dtype == torch.bfloat16
    assert products == []


def test_operations_are_counted() -> None:
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, torch.no_grad():
        Linear(24, 40)(tokens(LEAST_TOKENS, 24))
    assert counter.get_total_flops() == 2 * LEAST_TOKENS * 24 * 40
