"""Dropout layers whose places are drawn anew for the gradient instead of being kept."""

import torch.nn.functional as F
from torch import Tensor, nn

from bench.dropout import Dropped, draw_seed, drop


class Dropout(nn.Dropout):
    """``nn.Dropout``, on a CPU by :mod:`bench.dropout`: an element costs 0.2 to 0.3 ns instead of 5 to 11.

    Each pass in training draws one number from torch's default generator. Rates are rounded to multiples of 1 in 65536.
    """

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - the name of the base class
        """Map a tensor of any shape to the same shape."""
        if not self.training or self.p == 0:
            return input
        if input.device.type != "cpu":
            return F.dropout(input, self.p)
        return drop(input, Dropped.at(self.p, draw_seed()))
