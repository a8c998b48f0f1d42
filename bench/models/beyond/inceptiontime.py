"""InceptionTime, one network of it: six modules of parallel convolutions, two residual connections, the mean over time.

The published classifier averages five such networks; five seeds are the same five. Source: Ismail Fawaz et al.,
"InceptionTime: Finding AlexNet for Time Series Classification" (Data Mining and Knowledge Discovery 2020), section 3;
hfawaz/InceptionTime at 458e5ca, ``classifiers/inception.py``. First weights and the constants of batch normalisation
are PyTorch's, not Keras's.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.models.layers.convolution import SameConv, conv_norm

REVISION = 1

# A residual connection leads over this many modules.
MODULES_PER_BLOCK = 3


class InceptionTime(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` of any length by convolutions of several lengths side by side.

    Parameters
    ----------
    n_channels, n_times, n_classes
        Shape of the task.
    n_filters
        Filters of each branch of a module, and width of the bottleneck before the convolutions.
    kernel_sizes
        Lengths of a module's convolutions, in time steps.
    n_layers
        Modules; those after the last three that a residual connection leads over have none.
    """

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        n_filters: int = 32,
        kernel_sizes: Sequence[int] = (40, 20, 10),
        n_layers: int = 6,
    ) -> None:
        super().__init__()
        width = n_filters * (len(kernel_sizes) + 1)
        modules = [
            InceptionModule(width if layer else n_channels, n_filters, kernel_sizes)
            for layer in range(n_layers)
        ]
        n_blocks = n_layers // MODULES_PER_BLOCK
        blocks = [
            ResidualBlock(
                width if block else n_channels,
                width,
                modules[block * MODULES_PER_BLOCK : (block + 1) * MODULES_PER_BLOCK],
            )
            for block in range(n_blocks)
        ]
        self.body = nn.Sequential(*blocks, *modules[n_blocks * MODULES_PER_BLOCK :])
        self.projection = nn.Linear(width, n_classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier, ``(batch, n_filters * (len(kernel_sizes) + 1))``."""
        return self.body(x.transpose(1, 2)).mean(-1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.projection(self.features(x))


class ResidualBlock(nn.Module):
    """Modules in a row; what went into the first is added to what comes out of the last, then ReLU."""

    def __init__(self, n_in: int, n_out: int, modules: Sequence[nn.Module]) -> None:
        super().__init__()
        self.inner = nn.Sequential(*modules)
        self.shortcut = conv_norm(n_in, n_out, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_in, n_times)`` to ``(batch, n_out, n_times)``."""
        return F.relu(self.inner(x) + self.shortcut(x))


class InceptionModule(nn.Module):
    """Convolutions of several lengths and a maximum over three steps side by side; batch norm, ReLU.

    A single channel has no bottleneck.
    """

    def __init__(self, n_in: int, n_filters: int, kernel_sizes: Sequence[int]) -> None:
        super().__init__()
        self.bottleneck = nn.Conv1d(n_in, n_filters, 1, bias=False) if n_in > 1 else nn.Identity()
        n_narrow = n_filters if n_in > 1 else n_in
        self.convolutions = nn.ModuleList(
            SameConv(n_narrow, n_filters, kernel_size, bias=False) for kernel_size in kernel_sizes
        )
        self.of_maximum = nn.Conv1d(n_in, n_filters, 1, bias=False)
        self.norm = nn.BatchNorm1d(n_filters * (len(kernel_sizes) + 1))

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_in, n_times)`` to ``(batch, n_filters * (len(kernel_sizes) + 1), n_times)``."""
        narrow = self.bottleneck(x)
        branches = [convolution(narrow) for convolution in self.convolutions]
        branches.append(self.of_maximum(F.max_pool1d(x, 3, stride=1, padding=1)))
        return F.relu(self.norm(torch.cat(branches, dim=1)))
