"""Mamba's state space layer as MedMamba has it, features last from end to end: no flips, no transposes.

The directions share the input map, the convolution, the normalisation and the output map; each has its own
steps, B, C, A and D. The second one scans from the last step to the first. In one direction, with a convolution that
only looks back and no normalisation, it is the layer of plain Mamba.
Source: He et al., MedMamba, section on bidirectional selective scans; miraclehetech/MedMamba at 5f13ea1. Gu & Dao,
"Mamba" (2023), section 3.4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.layers.dropout import Dropout
from bench.scan import ScanInputs, selective_scan

Merge = Literal["concat", "add"]

KERNEL_SIZE = 4

SMALLEST_STEP, LARGEST_STEP, STEP_FLOOR = 1e-3, 0.1, 1e-4


@dataclass(frozen=True, kw_only=True)
class MambaSettings:
    """What all state space layers of a model have in common.

    Attributes
    ----------
    expand
        Inner width in multiples of d_model.
    d_state
        Numbers in the state of each inner feature.
    bidirectional
        Scan in both orders, or forwards only.
    merge
        How two directions become one: ``concat`` joins their features and maps them back, ``add`` takes the mean.
    steps_back
        Of the three neighbours that the convolution of each step looks at, those before it.
    norm
        Makes the normalisation of the scans' output from its width.
    scan
        Backend of the scan, see :mod:`bench.scan`.
    """

    expand: int = 2
    d_state: int = 16
    bidirectional: bool = True
    merge: Merge = "concat"
    steps_back: int = 1
    norm: Callable[[int], nn.Module] = nn.LayerNorm
    scan: str = "auto"

    def __post_init__(self) -> None:
        """Refuse a merge that does not exist.

        Raises
        ------
        UsageError
            ``merge`` is unknown.
        """
        if self.merge not in get_args(Merge):
            raise UsageError(f"merge must be one of {', '.join(get_args(Merge))}, got merge={self.merge}")

    @property
    def reverse(self) -> tuple[bool, ...]:
        """For each direction whether it runs backwards."""
        return (False, True) if self.bidirectional else (False,)


class Mamba(nn.Module):
    """Mix ``(batch, tokens, d_model)`` along the tokens by selective scans."""

    def __init__(self, d_model: int, dropout: float, settings: MambaSettings) -> None:
        super().__init__()
        self.settings = settings
        self.d_inner = settings.expand * d_model
        n_directions = len(settings.reverse)
        dt_rank = math.ceil(d_model / 16)
        self.sizes = [dt_rank, settings.d_state, settings.d_state]
        self.in_proj = nn.Linear(d_model, 2 * self.d_inner, bias=False)
        self.conv = nn.Conv1d(self.d_inner, self.d_inner, KERNEL_SIZE, groups=self.d_inner)
        self.x_proj = nn.Parameter(torch.empty(n_directions, sum(self.sizes), self.d_inner))
        self.dt_proj = nn.Parameter(torch.empty(n_directions, self.d_inner, dt_rank))
        self.dt_bias = nn.Parameter(torch.empty(n_directions, self.d_inner))
        self.A_logs = nn.Parameter(torch.empty(n_directions * self.d_inner, settings.d_state))
        self.D = nn.Parameter(torch.ones(n_directions * self.d_inner))
        if n_directions > 1 and settings.merge == "concat":
            self.merge_proj = nn.Linear(n_directions * self.d_inner, self.d_inner, bias=False)
        self.out_norm = settings.norm(self.d_inner)
        self.out_proj = nn.Linear(self.d_inner, d_model, bias=False)
        self.dropout = Dropout(dropout)
        self._draw_scan_parameters(dt_rank)

    @torch.no_grad()
    def _draw_scan_parameters(self, dt_rank: int) -> None:
        self.x_proj.normal_(std=self.d_inner**-0.5)
        self.dt_proj.uniform_(-(dt_rank**-0.5), dt_rank**-0.5)
        low, high = math.log(SMALLEST_STEP), math.log(LARGEST_STEP)
        step = torch.exp(torch.empty_like(self.dt_bias).uniform_(low, high)).clamp(min=STEP_FLOOR)
        self.dt_bias.copy_(step + torch.log(-torch.expm1(-step)))  # the inverse of softplus
        self.A_logs.copy_(torch.log(torch.arange(1, self.settings.d_state + 1)).expand_as(self.A_logs))

    def forward(self, x: Tensor) -> Tensor:
        """Map ``(batch, tokens, d_model)`` to the same shape."""
        u, gate = self.in_proj(x).chunk(2, dim=-1)
        u = F.silu(self._convolve(u))
        y = self.out_norm(self._merged(self._scanned(u)))
        return self.dropout(self.out_proj(y * F.silu(gate)))

    def _convolve(self, u: Tensor) -> Tensor:
        """Mix each feature with its neighbours in time, ends padded with zeros.

        As an image of height one, whose features-last layout the convolution takes without a copy. Both ends get
        the wider padding; the outputs that this adds at start or end are cut off.
        """
        back = self.settings.steps_back
        wider = max(back, KERNEL_SIZE - 1 - back)
        image = u.transpose(1, 2).unsqueeze(2)  # (batch, d_inner, 1, tokens)
        weight = self.conv.weight.unsqueeze(2)
        mixed = F.conv2d(image, weight, self.conv.bias, padding=(0, wider), groups=self.d_inner)
        return mixed.squeeze(2).transpose(1, 2)[:, wider - back :][:, : u.shape[1]]

    def _scanned(self, u: Tensor) -> Tensor:
        """Scan ``(batch, tokens, d_inner)`` in every direction to ``(batch, tokens, n_directions, d_inner)``."""
        n_directions = len(self.settings.reverse)
        projected = F.linear(u, self.x_proj.flatten(0, 1))
        projected = rearrange(projected, "b t (k p) -> b t k p", k=n_directions)
        low_rank, b, c = projected.split(self.sizes, dim=-1)
        delta = torch.einsum("btkr,kdr->btkd", low_rank, self.dt_proj)
        inputs = ScanInputs(
            u=u.unsqueeze(2),
            delta=delta,
            A=-torch.exp(self.A_logs.unflatten(0, (n_directions, -1))),
            B=b,
            C=c,
            D=self.D.unflatten(0, (n_directions, -1)),
            delta_bias=self.dt_bias,
        )
        return selective_scan(inputs, reverse=self.settings.reverse, backend=self.settings.scan)

    def _merged(self, y: Tensor) -> Tensor:
        if y.shape[2] == 1:
            return y.squeeze(2)
        if self.settings.merge == "add":
            return y.mean(2)
        return self.merge_proj(y.flatten(2))
