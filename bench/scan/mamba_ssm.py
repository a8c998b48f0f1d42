"""The published CUDA kernel of the package mamba-ssm behind our contract. Untested on GPU.

Its layout is ``(batch, features, n_times)`` with B and C as ``(batch, groups, d_state, n_times)``, and it knows one
order in time: this adapter transposes, and flips the directions that run backwards.
Source: state-spaces/mamba, ``mamba_ssm/ops/selective_scan_interface.py``, function ``selective_scan_fn``.
"""

import importlib
import importlib.util
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from bench.errors import ModelError
from bench.scan.contract import ScanInputs

INTERFACE = "mamba_ssm.ops.selective_scan_interface"


def obstacle(kind: str) -> str | None:
    """Return why it cannot run on a kind of device, or None when it can."""
    if kind != "cuda":
        return "mamba-ssm runs on CUDA devices only"
    if importlib.util.find_spec("mamba_ssm") is None:
        return "the package mamba-ssm is not installed, see docs/cuda.md"
    try:
        importlib.import_module(INTERFACE)
    except ImportError as error:  # a wheel built for another torch
        return f"mamba-ssm is installed and cannot be imported: {error}; see docs/cuda.md"
    return None


def scan(inputs: ScanInputs, reverse: Sequence[bool]) -> Tensor:
    """Return ``y`` ``(batch, n_times, n_directions, dim)``.

    Raises
    ------
    ModelError
        The inputs are float64, which the kernel does not know.
    """
    if inputs.u.dtype == torch.float64:
        raise ModelError("scan=mamba-ssm computes in float32 and got float64; use scan=torch")
    return adapted(importlib.import_module(INTERFACE).selective_scan_fn, inputs, reverse)


def adapted(kernel: Callable[..., Tensor], inputs: ScanInputs, reverse: Sequence[bool]) -> Tensor:
    """Return ``y`` by a kernel with the layout and the arguments of ``selective_scan_fn``."""
    batch, n_times, n_directions, dim = inputs.delta.shape
    u = inputs.u.expand_as(inputs.delta)
    u, delta, b, c = (_time_last(tensor, reverse) for tensor in (u, inputs.delta, inputs.B, inputs.C))
    y = kernel(
        u.flatten(1, 2),
        delta.flatten(1, 2),
        inputs.A.flatten(0, 1),
        b,
        c,
        D=inputs.D.flatten(),
        delta_bias=inputs.delta_bias.flatten(),
        delta_softplus=True,
    )
    y = y.view(batch, n_directions, dim, n_times)
    return _flipped(y, reverse).permute(0, 3, 1, 2)


def _time_last(tensor: Tensor, reverse: Sequence[bool]) -> Tensor:
    """Map ``(batch, n_times, n_directions, k)`` to contiguous ``(batch, n_directions, k, n_times)`` in each order."""
    return _flipped(tensor.permute(0, 2, 3, 1), reverse).contiguous()


def _flipped(tensor: Tensor, reverse: Sequence[bool]) -> Tensor:
    if not any(reverse):
        return tensor
    return torch.stack(
        [x.flip(-1) if back else x for x, back in zip(tensor.unbind(1), reverse, strict=True)], dim=1
    )
