"""Mamba: plain selective state space blocks over single time steps, in order of time, then the mean over time.

Source: Gu & Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces" (2023), section 3.4;
state-spaces/mamba, ``mamba_ssm/modules/mamba_simple.py``. Of the language model the blocks and the last normalisation
are kept; the linear map of a step's channels in place of the word embedding, the mean and the classifier are ours, as
in S4's published classifiers. The maps to steps, B and C are drawn as MedMamba draws them.
"""

import math

import torch
from torch import Tensor, nn

from bench.models.layers.mamba_block import KERNEL_SIZE, MambaSettings
from bench.models.layers.mamba_block import Mamba as MambaLayer
from bench.scan import choose_backend

REVISION = 1

NORM_EPS = 1e-5


class Mamba(nn.Module):
    """Classify ``(batch, n_times, n_channels)`` of any length by selective scans over its time steps.

    Parameters
    ----------
    n_channels, n_times, n_classes
        Shape of the task.
    d_model, n_layers
        Width of a step, number of blocks.
    expand, d_state, scan
        See :class:`bench.models.layers.mamba_block.MambaSettings`.
    """

    def __init__(
        self,
        *,
        n_channels: int,
        n_times: int,
        n_classes: int,
        d_model: int = 128,
        n_layers: int = 4,
        expand: int = 2,
        d_state: int = 16,
        scan: str = "auto",
    ) -> None:
        super().__init__()
        settings = MambaSettings(
            expand=expand,
            d_state=d_state,
            bidirectional=False,
            steps_back=KERNEL_SIZE - 1,
            norm=nn.Identity,
            scan=scan,
        )
        self.scan = scan
        self.embedding = nn.Linear(n_channels, d_model)
        self.blocks = nn.Sequential(*(Block(d_model, settings) for _ in range(n_layers)))
        self.norm = nn.RMSNorm(d_model, eps=NORM_EPS)
        self.projection = nn.Linear(d_model, n_classes)
        self._scale_last_maps(n_layers)

    @torch.no_grad()
    def _scale_last_maps(self, n_layers: int) -> None:
        """Keep the sum of the blocks' branches as large as one branch."""
        for name, parameter in self.blocks.named_parameters():
            if name.endswith("out_proj.weight"):
                parameter /= math.sqrt(n_layers)

    @property
    def scan_backend(self) -> str:
        """Name of the backend that scans run on where the weights are."""
        return choose_backend(self.scan, self.projection.weight.device)

    def no_weight_decay(self) -> set[str]:
        """Return the names of the parameters that weight decay must leave alone."""
        return {name for name, _ in self.named_parameters() if name.endswith((".A_logs", ".D"))}

    def features(self, x: Tensor) -> Tensor:
        """Return the vector before the classifier ``(batch, d_model)``."""
        # The sum of all branches stays in the type of the weights when layers run in a shorter one.
        steps = self.embedding(x).to(self.norm.weight.dtype)
        return self.norm(self.blocks(steps)).mean(1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(batch, n_classes)``."""
        return self.projection(self.features(x))


class Block(nn.Module):
    """Add to the input a state space layer of the input divided by its root mean square."""

    def __init__(self, d_model: int, settings: MambaSettings) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(d_model, eps=NORM_EPS)
        self.mamba = MambaLayer(d_model, 0.0, settings)

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, n_times, d_model)`` to the same shape."""
        return x + self.mamba(self.norm(x))
