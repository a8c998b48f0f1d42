"""Linear maps of many tokens by oneDNN, where torch would ask a library that knows only its own maker's processors.

On an AMD processor with AVX-512 torch's products (MKL) run at 90 GFLOP/s on our shapes and oneDNN's, which torch
carries for its compiler, at 200; the gradient of the weights, a sum over tokens, at 90 and 110 to 160.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

# With fewer tokens the call costs more than it gains; so it does where one side of the product is narrow.
LEAST_TOKENS, LEAST_WIDTH = 256, 16


class Linear(nn.Linear):
    """``nn.Linear``; float32 on a CPU goes to oneDNN where that pays, with results equal but for rounding."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - the name of the base class
        """Map ``(..., in_features)`` to ``(..., out_features)``."""
        if not self._suits(input):
            return F.linear(input, self.weight, self.bias)
        if torch.is_grad_enabled() and (input.requires_grad or self.weight.requires_grad):
            return _Linear.apply(input, self.weight, self.bias)
        return _product(input.contiguous(), self.weight, self.bias)

    def _suits(self, x: Tensor) -> bool:
        if x.device.type != "cpu" or x.dtype != torch.float32 or self.weight.dtype != torch.float32:
            return False
        if torch.is_autocast_enabled("cpu") or not torch.backends.mkldnn.is_available():
            return False
        # While operations are counted, only the plain form of attention is allowed; so it is here.
        counting = not torch.backends.cuda.flash_sdp_enabled()
        narrow = min(self.in_features, self.out_features) < LEAST_WIDTH
        return not counting and not narrow and x.numel() >= LEAST_TOKENS * self.in_features


def _product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return ``x weight^T + bias``."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


class _Linear(torch.autograd.Function):
    """The map with three products of oneDNN's."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Tensor:
        x, weight, bias = args
        x = x.contiguous()
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return _product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator loses its types
        ctx: Any, *grad_outputs: Any
    ) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        dy = grad_outputs[0].contiguous()
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        rows, tokens = dy.flatten(0, -2), x.flatten(0, -2)
        dx = _product(dy, weight.t().contiguous(), None) if needs_x else None
        d_weight = _product(rows.t(), tokens.t(), None) if needs_weight else None
        d_bias = rows.sum(0) if needs_bias and ctx.has_bias else None
        return dx, d_weight, d_bias
