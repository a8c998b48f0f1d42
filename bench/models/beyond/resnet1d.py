"""ResNet for time series: three residual blocks of three convolutions each, then the mean over time.

Source: Wang et al., "Time Series Classification from Scratch with Deep Neural Networks: A Strong Baseline" (IJCNN
2017), section II-C; cauchyturing/UCR_Time_Series_Classification_Deep_Learning_Baseline, ``ResNet.py``, whose
normalisation of the input itself, not in the paper, is left out. First weights and the constants of batch normalisation
are PyTorch's, not Keras's.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from bench.models.layers.convolution import conv_norm

REVISION = 1


class ResNet1d(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` of any length; a block of each of ``widths``."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        widths: Sequence[int] = (64, 128, 128),
        kernel_sizes: Sequence[int] = (8, 5, 3),
    ) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(ResidualBlock(n_in, n_out, kernel_sizes) for n_in, n_out in pairwise((n_channels, *widths)))
        )
        self.projection = nn.Linear(widths[-1], n_classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, widths[-1])``."""
        return self.body(x.transpose(1, 2)).mean(-1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.projection(self.features(x))


class ResidualBlock(nn.Module):
    """Convolutions with batch normalisation, ReLU between them, the block's input added before the last ReLU.

    The input is normalised before it is added; where its width is another, by a convolution of kernel 1 first.
    """

    def __init__(self, n_in: int, n_out: int, kernel_sizes: Sequence[int]) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            conv_norm(n_out if position else n_in, n_out, kernel_size)
            for position, kernel_size in enumerate(kernel_sizes)
        )
        self.shortcut = nn.BatchNorm1d(n_out) if n_in == n_out else conv_norm(n_in, n_out, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_in, n_times)`` to ``(batch, n_out, n_times)``."""
        inner = self.convolutions[0](x)
        for convolution in self.convolutions[1:]:
            inner = convolution(F.relu(inner))
        return F.relu(inner + self.shortcut(x))
