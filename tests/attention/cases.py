"""Inputs of attention of any shape, and what a backend makes of them."""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from bench.attention import attention
from bench.dropout import Dropped
from tests.scan.cases import needs_compiler

FAST = ["torch", pytest.param("native", marks=needs_compiler)]
TOLERANCE = {torch.float32: 5e-6, torch.float64: 1e-12}
SEED = 0xFEDC_BA98_7654_3210
SCALE = 0.4

__all__ = [
    "FAST",
    "SCALE",
    "SEED",
    "TOLERANCE",
    "Inputs",
    "assert_close",
    "needs_compiler",
    "random_inputs",
    "results",
]


class Inputs(NamedTuple):
    """Queries, keys and values ``(batch, heads, tokens, width)``, and a gradient of the output."""

    q: Tensor
    k: Tensor
    v: Tensor
    d_out: Tensor

    def to(self, dtype: torch.dtype) -> "Inputs":
        """Return them in another type."""
        return Inputs(*(tensor.to(dtype) for tensor in self))

    def float(self) -> "Inputs":
        """Return them in float32."""
        return self.to(torch.float32)


def random_inputs(
    n_queries: int = 37, n_keys: int = 41, width: int = 16, v_width: int = 16, batch: int = 2, heads: int = 3
) -> Inputs:
    """Draw normal inputs in float64."""
    draws = torch.Generator().manual_seed(0)
    sizes = [(n_queries, width), (n_keys, width), (n_keys, v_width), (n_queries, v_width)]
    return Inputs(*(torch.randn(batch, heads, *size, generator=draws, dtype=torch.float64) for size in sizes))


def results(inputs: Inputs, backend: str, rate: float = 0.3, scale: float = SCALE) -> list[Tensor]:
    """Return the output and the gradients of queries, keys and values."""
    leaves = [tensor.detach().requires_grad_() for tensor in inputs[:3]]
    out = attention(*leaves, scale=scale, dropped=Dropped.at(rate, SEED), backend=backend)
    return [out.detach(), *torch.autograd.grad(out, leaves, inputs.d_out.to(out.dtype))]


def assert_close(actual: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    """Fail when a tensor differs by more than ``tolerance`` times the largest number of all that are expected."""
    peak = max(wanted.abs().max().item() for wanted in expected)
    for name, found, wanted in zip(("out", "dq", "dk", "dv"), actual, expected, strict=True):
        difference = (found.double() - wanted.double()).abs().max().item()
        assert found.shape == wanted.shape, f"{name}: {tuple(found.shape)}, expected {tuple(wanted.shape)}"
        assert difference <= tolerance * peak, f"{name} differs by {difference:.2e} at a peak of {peak:.2e}"
