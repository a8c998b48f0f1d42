"""Convolutions over time that keep the number of steps, with batch normalisation."""

import torch.nn.functional as F
from torch import Tensor, nn


class SameConv(nn.Conv1d):
    """Convolution of ``(batch, n_in, n_times)`` to as many steps, ends padded with zeros.

    With an even kernel the end gets one zero more than the start, as Keras pads.
    """

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        """Map ``(batch, n_in, n_times)`` to ``(batch, n_out, n_times)``."""
        reach = self.kernel_size[0] - 1
        return super().forward(F.pad(input, (reach // 2, reach - reach // 2)))


def conv_norm(n_in: int, n_out: int, kernel_size: int, *, bias: bool = True) -> nn.Sequential:
    """Return a convolution that keeps the number of steps, and the batch normalisation of its output."""
    return nn.Sequential(SameConv(n_in, n_out, kernel_size, bias=bias), nn.BatchNorm1d(n_out))
