"""Whether the scans cost what the paper's theorem says: operations counted in a running scan, against the formula.

Source: MedMamba paper, section "Principle II: Multi-Rate Temporal Decomposition", theorem on linear-time complexity:
for windows of L steps, L_m = floor((L - s_m) / s_m) + 1 tokens at stride s_m, the scans cost O(sum of L_m D_inner N),
which is O(L D_inner N sum of 1 / s_m).
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from bench import models
from bench.analyses.theory.record import Check, Curve, verdict
from bench.analyses.theory.scale_mismatch import STRIDES
from bench.scan import ScanInputs, selective_scan

LENGTHS = (128, 256, 512, 1024, 2048, 3000)
D_INNER, D_STATE = 32, 16
WIDTHS, STATES = (8, 32, 128), (4, 16, 64)
N_DIRECTIONS = 2
SAME = 1.01
BOUNDED = 2.0

aten = torch.ops.aten
_ELEMENTWISE = {aten.mul.Tensor, aten.add.Tensor, aten.sub.Tensor, aten.exp.default, aten.softplus.default}


class OperationCount(TorchDispatchMode):
    """Count the arithmetic inside the block: one per number for element-wise maps, two per multiply-add of products."""

    def __init__(self) -> None:
        super().__init__()
        self.n_operations = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is aten.bmm.default:
            self.n_operations += 2 * result.numel() * args[0].shape[2]
        elif func in _ELEMENTWISE:
            self.n_operations += result.numel()
        return result


def count_scan(n_tokens: int, d_inner: int, d_state: int) -> int:
    """Return the operations of one window's scan in both directions, counted as the sequential backend runs."""

    def ones(*shape: int) -> Tensor:
        return torch.ones(shape)

    inputs = ScanInputs(
        u=ones(1, n_tokens, 1, d_inner),
        delta=ones(1, n_tokens, N_DIRECTIONS, d_inner),
        A=-ones(N_DIRECTIONS, d_inner, d_state),
        B=ones(1, n_tokens, N_DIRECTIONS, d_state),
        C=ones(1, n_tokens, N_DIRECTIONS, d_state),
        D=ones(N_DIRECTIONS, d_inner),
        delta_bias=ones(N_DIRECTIONS, d_inner),
    )
    with torch.no_grad(), OperationCount() as count:
        selective_scan(inputs, reverse=(False, True), backend="reference")
    return count.n_operations


def n_tokens_by_formula(n_times: int, stride: int) -> int:
    """Return L_m."""
    return (n_times - stride) // stride + 1


def n_tokens_of_model(n_times: int, strides: Sequence[int]) -> list[int]:
    """Return how many tokens each scale of the built model has."""
    model: Any = models.build("medmamba", 1, n_times, 2, d_model=8, n_layers=1, strides=list(strides))
    return [scale.position.shape[1] for scale in model.scales]


def formula_cost(n_times: int, d_inner: int, d_state: int, strides: Sequence[int] = STRIDES) -> int:
    """Return sum of L_m D_inner N."""
    return sum(n_tokens_by_formula(n_times, stride) for stride in strides) * d_inner * d_state


def counted_cost(n_times: int, d_inner: int, d_state: int, strides: Sequence[int] = STRIDES) -> int:
    """Return the operations of one layer's scans over all scales of the built model."""
    return sum(count_scan(n, d_inner, d_state) for n in n_tokens_of_model(n_times, strides))


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent of y over x by least squares on logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def check_scan_cost() -> Check:
    """Check that operations per unit of the formula are one constant over lengths, and bounded over sizes."""
    counted = np.array([counted_cost(length, D_INNER, D_STATE) for length in LENGTHS], dtype=float)
    over_length = counted / [formula_cost(length, D_INNER, D_STATE) for length in LENGTHS]
    sizes = [(width, state) for width in WIDTHS for state in STATES]
    over_size = np.array([counted_cost(256, *size) / formula_cost(256, *size) for size in sizes])
    same_tokens = all(
        n_tokens_of_model(length, STRIDES) == [n_tokens_by_formula(length, stride) for stride in STRIDES]
        for length in LENGTHS
    )
    exponent = slope(LENGTHS, list(counted))
    holds = same_tokens and _spread(over_length) <= SAME and _spread(over_size) <= BOUNDED
    return Check(
        number="4",
        about="scan",
        claim="The bidirectional scans over all scales cost O(sum of L_m D_inner N), which is linear in the length L.",
        checked=(
            "Arithmetic counted as the sequential scan runs, for the tokens of the built model, over sum of "
            f"L_m D_inner N: one constant over lengths (within {SAME - 1:.0%}), within a factor of {BOUNDED:g} over "
            "widths and states."
        ),
        on=(
            f"strides {STRIDES}, L from {LENGTHS[0]} to {LENGTHS[-1]} with D_inner = {D_INNER}, N = {D_STATE}; L = 256 "
            f"with D_inner in {WIDTHS}, N in {STATES}; one layer, both directions"
        ),
        result=(
            f"{over_length.min():.2f} to {over_length.max():.2f} operations per unit over lengths, "
            f"{over_size.min():.2f} to {over_size.max():.2f} over sizes; exponent over L {exponent:.3f}; the model's "
            f"tokens {'are' if same_tokens else 'are not'} those of the formula"
        ),
        verdict=verdict(holds),
        values={
            "operations_per_unit": float(over_length.mean()),
            "spread_over_lengths": _spread(over_length),
            "spread_over_sizes": _spread(over_size),
            "exponent": exponent,
        },
        x_label="L, steps of a window",
        curves=_curves(counted, float(over_length.mean())),
    )


def _spread(values: NDArray[np.floating]) -> float:
    return float(values.max() / values.min())


def _curves(counted: NDArray[np.floating], per_unit: float) -> tuple[Curve, ...]:
    panel, x = "million operations, scans of one layer", tuple(map(float, LENGTHS))
    bound = [length * D_INNER * D_STATE * math.fsum(1 / stride for stride in STRIDES) for length in LENGTHS]
    exact = [formula_cost(length, D_INNER, D_STATE) for length in LENGTHS]
    lines = {
        "counted": list(counted),
        f"{per_unit:.2f} x sum of L_m D N": [per_unit * n_steps for n_steps in exact],
        f"{per_unit:.2f} x L D N sum of 1/s": [per_unit * n_steps for n_steps in bound],
    }
    return tuple(
        Curve(panel=panel, label=label, x=x, y=tuple(operations / 1e6 for operations in map(float, y)))
        for label, y in lines.items()
    )
