"""FCN: three convolutions over time, batch normalisation and ReLU after each, then the mean over time.

Source: Wang et al., "Time Series Classification from Scratch with Deep Neural Networks: A Strong Baseline" (IJCNN
2017), section II-B; cauchyturing/UCR_Time_Series_Classification_Deep_Learning_Baseline, ``FCN.py``. First weights and
the constants of batch normalisation are PyTorch's, not Keras's.
"""

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn

from bench.models.layers.convolution import conv_norm

REVISION = 1


class FCN(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` of any length by convolutions of ``widths`` and ``kernel_sizes``."""

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        widths: Sequence[int] = (128, 256, 128),
        kernel_sizes: Sequence[int] = (8, 5, 3),
    ) -> None:
        super().__init__()
        sizes = zip(pairwise((n_channels, *widths)), kernel_sizes, strict=True)
        self.body = nn.Sequential(
            *(
                nn.Sequential(conv_norm(n_in, n_out, kernel_size), nn.ReLU())
                for (n_in, n_out), kernel_size in sizes
            )
        )
        self.projection = nn.Linear(widths[-1], n_classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, widths[-1])``."""
        return self.body(x.transpose(1, 2)).mean(-1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.projection(self.features(x))
