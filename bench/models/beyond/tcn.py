"""TCN: residual blocks of causal convolutions whose reach doubles from block to block; the last step is classified.

Source: Bai et al., "An Empirical Evaluation of Generic Convolutional and Recurrent Networks for Sequence Modeling"
(2018), section 3; locuslab/TCN, ``TCN/tcn.py`` and, for a class per series, ``TCN/mnist_pixel``. That code's own draw
of the convolutions' weights is undone by their weight normalisation, so that they start as PyTorch draws them.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

REVISION = 1


class TCN(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` by what its last step knows of those before.

    It sees ``1 + 2 * (kernel_size - 1) * (2 ** n_layers - 1)`` steps: 3,061 by default.

    Parameters
    ----------
    n_channels, n_times, n_classes
        Shape of the task.
    d_model
        Width of all convolutions.
    n_layers
        Blocks; block i, from 0, looks at every ``2 ** i``-th step.
    kernel_size
        Taps of each convolution.
    dropout
        Rate of leaving out single outputs of the convolutions.
    """

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        d_model: int = 25,
        n_layers: int = 8,
        kernel_size: int = 7,
        dropout: float = 0.05,
    ) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(
                TemporalBlock(d_model if layer else n_channels, d_model, kernel_size, 2**layer, dropout)
                for layer in range(n_layers)
            )
        )
        self.projection = nn.Linear(d_model, n_classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, d_model)``."""
        return self.body(x.transpose(1, 2))[..., -1]

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.projection(self.features(x))


class TemporalBlock(nn.Module):
    """Two causal convolutions with weight normalisation, ReLU and dropout; the input is added, then ReLU.

    Where the input's width is another, it goes through a convolution of kernel 1.
    """

    def __init__(self, n_in: int, n_out: int, kernel_size: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.first = CausalConv(n_in, n_out, kernel_size, dilation)
        self.second = CausalConv(n_out, n_out, kernel_size, dilation)
        self.dropout = nn.Dropout(dropout)
        self.shortcut = nn.Identity()
        if n_in != n_out:
            self.shortcut = nn.Conv1d(n_in, n_out, 1)
            nn.init.normal_(self.shortcut.weight, std=0.01)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_in, n_times)`` to ``(batch, n_out, n_times)``."""
        inner = self.dropout(F.relu(self.first(x)))
        inner = self.dropout(F.relu(self.second(inner)))
        return F.relu(inner + self.shortcut(x))


class CausalConv(nn.Module):
    """Convolution that looks back only, zeros before the start; each filter's length is a parameter of its own."""

    def __init__(self, n_in: int, n_out: int, kernel_size: int, dilation: int) -> None:
        super().__init__()
        like = nn.Conv1d(n_in, n_out, kernel_size)  # its initialisation
        assert like.bias is not None
        self.dilation = dilation
        self.direction, self.bias = like.weight, like.bias
        self.length = nn.Parameter(_lengths(like.weight.detach()).clone())

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_in, n_times)`` to ``(batch, n_out, n_times)``."""
        reach = (self.direction.shape[-1] - 1) * self.dilation
        weight = self.length / _lengths(self.direction) * self.direction
        return F.conv1d(F.pad(x, (reach, 0)), weight, self.bias, dilation=self.dilation)


def _lengths(filters: Tensor) -> Tensor:
    """Return the length of each filter of ``(n_out, n_in, kernel_size)``, in that shape's first axis."""
    return torch.linalg.vector_norm(filters, dim=(1, 2), keepdim=True)
