"""xresnet1d101: a deep residual network of bottleneck blocks at falling resolution, the ECG benchmark's strongest.

Source: Strodthoff et al., "Deep Learning for ECG Analysis: Benchmarks and Insights from PTB-XL" (IEEE Journal of
Biomedical and Health Informatics 2021); helme/ecg_ptbxl_benchmarking at ff776de, ``code/models/xresnet1d.py``, after
He et al., "Bag of Tricks for Image Classification" (CVPR 2019). All four stages are 64 wide, as in that code, and
batch normalisation starts at one everywhere, since its training draws all weights anew.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.models.layers.ecg_benchmark import BatchNorm, DenseHead, draw_weights

REVISION = 1

STEM_WIDTHS = (32, 32, 64)
# A block's output is this many times as wide as its inside.
EXPANSION = 4


class XResNet1d101(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` of any length by maximum and mean over the last stage's steps.

    Parameters
    ----------
    n_channels, n_times, n_classes
        Shape of the task.
    n_blocks
        Residual blocks of each stage; every stage but the first halves the number of steps.
    width
        Inner width of the blocks.
    kernel_size
        Length of the convolutions, odd.
    d_hidden
        Width of the hidden layer before the classifier.
    dropout
        Rate before the classifier, half of it before the hidden layer.
    """

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        n_blocks: Sequence[int] = (3, 4, 23, 3),
        width: int = 64,
        kernel_size: int = 5,
        d_hidden: int = 128,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        first, second, n_stem = STEM_WIDTHS
        stem = [
            conv_layer(n_channels, first, kernel_size, stride=2),
            conv_layer(first, second, kernel_size),
            conv_layer(second, n_stem, kernel_size),
            nn.MaxPool1d(3, stride=2, padding=1),
        ]
        blocks = [
            Bottleneck(
                width * EXPANSION if stage or block else n_stem,
                width,
                kernel_size,
                stride=2 if stage and not block else 1,
            )
            for stage, n in enumerate(n_blocks)
            for block in range(n)
        ]
        self.body = nn.Sequential(*stem, *blocks)
        self.head = DenseHead(2 * width * EXPANSION, d_hidden, n_classes, dropout)
        draw_weights(self)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, d_hidden)``."""
        steps = self.body(x.transpose(1, 2))
        return self.head.features(torch.cat([steps.amax(-1), steps.mean(-1)], dim=1))

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.head.projection(self.features(x))


def conv_layer(n_in: int, n_out: int, kernel_size: int, *, stride: int = 1) -> nn.Sequential:
    """Return a convolution, its batch normalisation and ReLU; a stride of two rounds the number of steps up."""
    return nn.Sequential(
        nn.Conv1d(n_in, n_out, kernel_size, stride=stride, padding=kernel_size // 2, bias=False),
        BatchNorm(n_out),
        nn.ReLU(),
    )


class Bottleneck(nn.Module):
    """Narrow, convolve, widen; the input is added before the last ReLU.

    With a stride the input is averaged in pairs first; where its width is another, it goes through a convolution of
    kernel 1.
    """

    def __init__(self, n_in: int, width: int, kernel_size: int, *, stride: int) -> None:
        super().__init__()
        n_out = width * EXPANSION
        self.inner = nn.Sequential(
            conv_layer(n_in, width, 1),
            conv_layer(width, width, kernel_size, stride=stride),
            nn.Conv1d(width, n_out, 1, bias=False),
            BatchNorm(n_out),
        )
        self.pool = nn.AvgPool1d(stride, ceil_mode=True) if stride > 1 else nn.Identity()
        self.widen = (
            nn.Identity()
            if n_in == n_out
            else nn.Sequential(nn.Conv1d(n_in, n_out, 1, bias=False), BatchNorm(n_out))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_in, n_times)`` to ``(batch, 4 * width, n_times)``, fewer steps with a stride."""
        return F.relu(self.inner(x) + self.widen(self.pool(x)))
