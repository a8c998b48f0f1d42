"""S4D: linear state space layers with diagonal states, each one long convolution over time, then the mean over time.

Source: Gu et al., "On the Parameterization and Initialization of Diagonal State Space Models" (NeurIPS 2022), the
variant S4D-Lin with zero-order hold; state-spaces/s4, ``models/s4/s4d.py`` at 2ed46fc, ``example.py`` at 1f39234.
There the states' own parameters are trained at a learning rate of at most 0.001, here at that of all others; as there
they are not decayed.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.models.layers.precision import at_least_float32

REVISION = 1

SMALLEST_STEP, LARGEST_STEP = 1e-3, 0.1


class S4D(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` of any length by linear recurrences with complex diagonal states.

    Parameters
    ----------
    n_channels, n_times, n_classes
        Shape of the task.
    d_model, n_layers
        Features of a time step, layers.
    d_state
        Numbers in the state of each feature: half as many complex ones, each with its conjugate.
    dropout
        Rate of leaving out a feature at all steps of a window, inside and behind each layer.
    """

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        d_model: int = 128,
        n_layers: int = 4,
        d_state: int = 64,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.embedding = nn.Linear(n_channels, d_model)
        self.body = nn.Sequential(*(Layer(d_model, d_state, dropout) for _ in range(n_layers)))
        self.projection = nn.Linear(d_model, n_classes)

    def no_weight_decay(self) -> set[str]:
        """Return the names of the parameters that weight decay must leave alone."""
        spared = ("log_step", "log_decay", "frequency")
        return {name for name, _ in self.named_parameters() if name.endswith(spared)}

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, d_model)``."""
        return self.body(self.embedding(x)).mean(1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.projection(self.features(x))


class Layer(nn.Module):
    """State space, GELU and a gated map of the features; the input is added, then LayerNorm."""

    def __init__(self, d_model: int, d_state: int, dropout: float) -> None:
        super().__init__()
        self.states = DiagonalStates(d_model, d_state)
        self.dropout = nn.Dropout1d(dropout)
        self.mixing = nn.Linear(d_model, 2 * d_model)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, d_model)`` to the same shape."""
        inner = F.gelu(self.states(x.transpose(1, 2)))  # (batch, d_model, n_times)
        inner = F.glu(self.mixing(self.dropout(inner).transpose(1, 2)), dim=-1)
        return self.norm(x + self.dropout(inner.transpose(1, 2)).transpose(1, 2))


class DiagonalStates(nn.Module):
    """Linear recurrence of each feature with its own states, computed as one convolution over the whole window.

    With ``a = -exp(log_decay) + i frequency`` and step ``d`` a state follows
    ``h_t = exp(d a) h_(t-1) + (exp(d a) - 1) / a u_t``; the output is twice the real part of the states' sum weighted
    by C, plus D times the input.
    """

    def __init__(self, d_model: int, d_state: int) -> None:
        super().__init__()
        n_pairs = max(1, d_state // 2)
        low, high = math.log(SMALLEST_STEP), math.log(LARGEST_STEP)
        self.log_step = nn.Parameter(torch.empty(d_model).uniform_(low, high))
        self.log_decay = nn.Parameter(torch.full((d_model, n_pairs), math.log(0.5)))
        self.frequency = nn.Parameter((math.pi * torch.arange(n_pairs)).repeat(d_model, 1))
        # Real and imaginary parts of complex numbers of variance one.
        self.C = nn.Parameter(torch.randn(d_model, n_pairs, 2) * math.sqrt(0.5))
        self.D = nn.Parameter(torch.randn(d_model))

    def forward(self, u: Tensor) -> Tensor:
        """Map ``(batch, d_model, n_times)`` to the same shape, in float32 at least."""
        series, n_times = at_least_float32(u), u.shape[-1]
        # Twice as long, so that the convolution does not come round to the start.
        spectrum = torch.fft.rfft(series, n=2 * n_times) * torch.fft.rfft(self.kernel(n_times), n=2 * n_times)
        return torch.fft.irfft(spectrum, n=2 * n_times)[..., :n_times] + self.D.unsqueeze(-1) * series

    def kernel(self, n_times: int) -> Tensor:
        """Return each feature's response to one impulse ``(d_model, n_times)``."""
        rate = torch.complex(-torch.exp(self.log_decay), self.frequency)
        exponent = rate * torch.exp(self.log_step).unsqueeze(-1)
        weight = torch.view_as_complex(self.C) * (torch.exp(exponent) - 1) / rate
        steps = torch.arange(n_times, device=exponent.device, dtype=self.D.dtype)
        powers = torch.exp(exponent.unsqueeze(-1) * steps)  # (d_model, n_pairs, n_times)
        return 2 * (weight.unsqueeze(-1) * powers).sum(1).real
