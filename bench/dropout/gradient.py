"""Dropout for autograd: the gradient is the same multiplication, with the dropped places drawn again."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from bench.dropout.dropped import Dropped

Multiply = Callable[[Tensor, Dropped], Tensor]


def dropped_out(x: Tensor, dropped: Dropped, multiply: Multiply) -> Tensor:
    """Return ``multiply`` of a tensor made contiguous, with a gradient where one is wanted."""
    if torch.is_grad_enabled() and x.requires_grad:
        return _Drop.apply(x, dropped, multiply)
    return multiply(x.contiguous(), dropped)


class _Drop(torch.autograd.Function):
    """A multiplication with factors that are not kept."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Tensor:
        x, ctx.dropped, ctx.multiply = args
        return ctx.multiply(x.contiguous(), ctx.dropped)

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator loses its types
        ctx: Any, *grad_outputs: Any
    ) -> tuple[Tensor | None, ...]:
        (dy,) = grad_outputs
        return ctx.multiply(dy.contiguous(), ctx.dropped), None, None
