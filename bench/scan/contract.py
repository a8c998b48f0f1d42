"""What a selective scan takes and returns, the same for every backend. Free of torch until it is called.

With ``step = softplus(delta + delta_bias)``, per sample, direction and feature, over time in the direction's order:

    h_t = exp(step_t A) * h_(t-1) + step_t * u_t * B_t        h before the first step is zero, d_state numbers
    y_t = sum over states of C_t * h_t + D * u_t

Source: Gu and Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces" (2023), section 3.3 and
algorithm 2, with the simplification ``step * B`` of its published kernel.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class ScanInputs(NamedTuple):
    """The seven tensors of a scan, features last.

    A direction is a group of features with its own parameters, B and C, and its own order in time. Any strides
    are accepted; no backend copies a tensor whose last axis is contiguous only to rearrange it.

    Attributes
    ----------
    u
        Input ``(batch, n_times, n_directions, dim)``, or with 1 in place of ``n_directions`` when all
        directions read the same series.
    delta
        Step before bias and softplus ``(batch, n_times, n_directions, dim)``.
    A
        Decay rates ``(n_directions, dim, d_state)``, negative in every trained model.
    B, C
        Input and output maps ``(batch, n_times, n_directions, d_state)``, shared by a direction's features.
    D
        Skip weight ``(n_directions, dim)``.
    delta_bias
        Bias of the step ``(n_directions, dim)``.
    """

    u: "Tensor"
    delta: "Tensor"
    A: "Tensor"
    B: "Tensor"
    C: "Tensor"
    D: "Tensor"
    delta_bias: "Tensor"


def check_shapes(inputs: ScanInputs, reverse: Sequence[bool]) -> None:
    """Refuse tensors that do not fit each other.

    Raises
    ------
    ValueError
        A tensor has another shape than ``delta`` and ``A`` imply, or ``reverse`` another length.
    """
    if inputs.delta.ndim != 4 or inputs.A.ndim != 3:
        raise ValueError(
            "scan: delta must be (batch, n_times, n_directions, dim) and A (n_directions, dim, d_state), "
            f"got {tuple(inputs.delta.shape)} and {tuple(inputs.A.shape)}"
        )
    batch, n_times, n_directions, dim = inputs.delta.shape
    d_state = inputs.A.shape[2]
    shared = inputs.u.ndim == 4 and inputs.u.shape[2] == 1
    expected = {
        "u": (batch, n_times, 1 if shared else n_directions, dim),
        "delta": (batch, n_times, n_directions, dim),
        "A": (n_directions, dim, d_state),
        "B": (batch, n_times, n_directions, d_state),
        "C": (batch, n_times, n_directions, d_state),
        "D": (n_directions, dim),
        "delta_bias": (n_directions, dim),
    }
    for name, shape in expected.items():
        given = tuple(getattr(inputs, name).shape)
        if given != shape:
            raise ValueError(f"scan: {name} must have shape {shape} to fit delta and A, got {given}")
    if len(reverse) != n_directions:
        raise ValueError(
            f"scan: reverse needs one entry for each of {n_directions} directions, got {len(reverse)}"
        )
