"""Batch normalisation over a batch that is spread over processes, on any device.

torch's SyncBatchNorm refuses the CPU. Mean and variance are summed over all processes, in two passes as one process
computes them, and gradients flow back through the sums.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


class SharedBatchNorm(nn.BatchNorm1d):
    """`torch.nn.BatchNorm1d` whose batch is that of all processes; the same tensors, the same names.

    ``copies`` says how many processes hold each window, which is all of them where a batch is too small to spread.
    """

    copies = 1

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        """Map ``(batch, d_model)`` or ``(batch, d_model, n_times)`` to the same shape."""
        if not self.training:
            return super().forward(input)
        axes = [axis for axis in range(input.ndim) if axis != 1]
        shape = [-1 if axis == 1 else 1 for axis in range(input.ndim)]
        own_count = input.new_tensor(input.numel() / input.shape[1])
        count = shared_sum(own_count)
        mean = shared_sum(input.sum(axes)) / count
        centred = input - mean.view(shape)
        variance = shared_sum(centred.square().sum(axes)) / count
        self._follow(mean.detach(), variance.detach(), float(count) / self.copies)
        normalised = centred * (variance + self.eps).rsqrt().view(shape)
        return normalised * self.weight.view(shape) + self.bias.view(shape)

    @torch.no_grad()
    def _follow(self, mean: Tensor, variance: Tensor, count: float) -> None:
        """Move the running statistics as torch does: the variance without bias."""
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        assert self.momentum is not None, "a cumulative average is not shared"
        self.num_batches_tracked += 1
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * count / (count - 1), self.momentum)


def shared_sum(value: Tensor) -> Tensor:
    """Return the sum of a tensor over all processes; its gradient is summed over them too."""
    return _SharedSum.apply(value)


class _SharedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        total = value.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].contiguous().clone()
        dist.all_reduce(total)
        return total


def share_batch_norms(model: nn.Module) -> list[SharedBatchNorm]:
    """Make every `BatchNorm1d` of a model share its statistics from now on; return these layers."""
    for module in model.modules():
        if type(module) is nn.BatchNorm1d:
            # Its tensors stay the same objects, since an optimiser may hold them already.
            module.__class__ = SharedBatchNorm
    return [module for module in model.modules() if isinstance(module, SharedBatchNorm)]
