"""Bidirectional LSTM: two recurrent layers in both orders of time, mean, maximum and last outputs classified.

Source: Hochreiter & Schmidhuber, "Long Short-Term Memory" (1997), in both orders after Graves & Schmidhuber (2005), as
in the ECG benchmark of Strodthoff et al. (2021); helme/ecg_ptbxl_benchmarking at ff776de, ``code/models/rnn1d.py``.
That code takes the outputs of both orders at the last step, where the backward one has seen that step only; here each
order's own last one is taken.
"""

import torch
from torch import Tensor, nn

from bench.models.layers.ecg_benchmark import DenseHead, draw_weights

REVISION = 1


class BiLSTM(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` of any length by an LSTM over time steps.

    Parameters
    ----------
    n_channels, n_times, n_classes
        Shape of the task.
    d_model
        Width of each order's state.
    n_layers
        Recurrent layers.
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
        d_model: int = 256,
        n_layers: int = 2,
        d_hidden: int = 128,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.recurrent = nn.LSTM(n_channels, d_model, n_layers, batch_first=True, bidirectional=True)
        self.head = DenseHead(3 * 2 * d_model, d_hidden, n_classes, dropout)
        draw_weights(self)

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, d_hidden)``."""
        outputs, _ = self.recurrent(x)  # (batch, n_times, 2 * d_model)
        forwards, backwards = outputs.chunk(2, dim=-1)
        pooled = [outputs.mean(1), outputs.amax(1), forwards[:, -1], backwards[:, 0]]
        return self.head.features(torch.cat(pooled, dim=-1))

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.head.projection(self.features(x))
