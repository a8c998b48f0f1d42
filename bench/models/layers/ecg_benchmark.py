"""What the networks of the PTB-XL benchmark have in common: batch normalisation, head and first weights.

Source: Strodthoff et al., "Deep Learning for ECG Analysis: Benchmarks and Insights from PTB-XL" (2021);
helme/ecg_ptbxl_benchmarking at ff776de, ``code/models/basic_conv1d.py``.
"""

import torch.nn.functional as F
from torch import Tensor, nn


class BatchNorm(nn.Module):
    """Batch normalisation that also takes one value per feature.

    One value has no deviation. Where a batch of training is a single window, pooled or short, the running statistics
    scale it as in evaluation and stay as they are; the published code leaves such a last batch out.
    """

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(n_features)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_features)`` or ``(batch, n_features, n_times)`` to the same shape."""
        norm = self.norm
        # A subclass is one whose batch is spread over processes: it counts the values of them all.
        if norm.training and x.numel() == x.shape[1] and type(norm) is nn.BatchNorm1d:
            return F.batch_norm(
                x, norm.running_mean, norm.running_var, norm.weight, norm.bias, training=False, eps=norm.eps
            )
        return norm(x)


class DenseHead(nn.Module):
    """A hidden layer and the classifier, each after batch normalisation and dropout, half the rate at the first."""

    def __init__(self, n_features: int, d_hidden: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.hidden = nn.Sequential(
            BatchNorm(n_features),
            nn.Dropout(dropout / 2),
            nn.Linear(n_features, d_hidden),
            nn.ReLU(),
            BatchNorm(d_hidden),
            nn.Dropout(dropout),
        )
        self.projection = nn.Linear(d_hidden, n_classes)

    def features(self, pooled: Tensor) -> Tensor:
        """Map ``(batch, n_features)`` to the vector before the classifier ``(batch, d_hidden)``."""
        return self.hidden(pooled)


def draw_weights(model: nn.Module) -> None:
    """Draw all convolutions and linear maps with deviation ``sqrt(2 / fan_in)``, biases zero (He et al. 2015)."""
    for module in model.modules():
        if isinstance(module, nn.Conv1d | nn.Linear):
            nn.init.kaiming_normal_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
