"""Inputs for scans: the golden fixtures in our layout, and random ones of any shape."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bench.native import build
from bench.scan import ScanInputs, selective_scan

GOLDEN = Path(__file__).parent.parent / "golden"


def has_compiler() -> bool:
    """Tell whether this machine has a C compiler, without compiling anything."""
    try:
        build.find_compiler()
    except build.BuildError:
        return False
    return True


# A kernel that does not compile is a failure; only a machine without a compiler may do without it.
needs_compiler = pytest.mark.skipif(not has_compiler(), reason="no C compiler on this machine")
FAST = ["torch", pytest.param("native", marks=needs_compiler)]
BACKENDS = ["reference", *FAST]
# Largest difference relative to the peak, the golden fixtures' own.
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def golden(name: str, dtype: torch.dtype) -> tuple[ScanInputs, Tensor, dict[str, Tensor]]:
    """Return inputs, gradient of y, and the expected arrays (y, last_state and grad_*) of a fixture."""
    groups = json.loads((GOLDEN / "manifest.json").read_text())["fixtures"][name]["config"]["groups"]
    suffix = "_f64" if dtype == torch.float64 else ""
    with np.load(GOLDEN / f"{name}.npz", allow_pickle=False) as stored:
        arrays = {key: torch.from_numpy(stored[key]) for key in stored.files}
    inputs = ScanInputs(*(ours(key, arrays[key].to(dtype), groups) for key in ScanInputs._fields))
    expected = {
        key: ours(key.removeprefix("grad_"), arrays[key + suffix], groups)
        for key in ("y", "last_state", *(f"grad_{field}" for field in ScanInputs._fields))
    }
    return inputs, ours("y", arrays["dy"].to(dtype), groups), expected


def ours(key: str, array: Tensor, groups: int) -> Tensor:
    """Bring an array of the published layout, features before time, into ours: views, not copies."""
    if key in ("u", "delta", "y"):
        return array.unflatten(1, (groups, -1)).permute(0, 3, 1, 2)
    if key in ("B", "C"):
        return array.permute(0, 3, 1, 2)
    return array.unflatten(1 if key == "last_state" else 0, (groups, -1))


def random_inputs(
    batch: int = 3,
    n_times: int = 37,
    dim: int = 20,
    d_state: int = 16,
    *,
    n_directions: int = 2,
    shared: bool = True,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
) -> ScanInputs:
    """Draw inputs with decay rates and steps around those of a trained model."""
    draws = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=draws, dtype=torch.float64).to(dtype)

    rates = torch.arange(1, d_state + 1, dtype=dtype) * torch.exp(0.1 * normal(n_directions, dim, d_state))
    return ScanInputs(
        u=normal(batch, n_times, 1 if shared else n_directions, dim),
        delta=0.5 * normal(batch, n_times, n_directions, dim),
        A=-rates,
        B=normal(batch, n_times, n_directions, d_state),
        C=normal(batch, n_times, n_directions, d_state),
        D=normal(n_directions, dim),
        delta_bias=0.5 * normal(n_directions, dim) - 2,
    )


def run(inputs: ScanInputs, backend: str, reverse: Sequence[bool] = (False, True)) -> dict[str, Tensor]:
    """Return y and the gradients of all inputs under a fixed gradient of y."""
    leaves = ScanInputs(*(tensor.detach().requires_grad_() for tensor in inputs))
    y = selective_scan(leaves, reverse=reverse, backend=backend)
    dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(y.dtype)
    return {"y": y.detach(), **gradients(y, leaves, dy)}


def gradients(y: Tensor, leaves: ScanInputs, dy: Tensor) -> dict[str, Tensor]:
    """Return the gradients by name, as the fixtures call them."""
    found = torch.autograd.grad(y, leaves, dy)
    return {f"grad_{field}": gradient for field, gradient in zip(ScanInputs._fields, found, strict=True)}


def assert_close(actual: dict[str, Tensor], expected: dict[str, Tensor], tolerance: float) -> None:
    """Fail when an array differs by more than ``tolerance`` times its expected peak, and not by underflow alone."""
    for key, array in actual.items():
        wanted: Any = expected[key].double()
        difference = (array.detach().double() - wanted).abs().max().item()
        assert array.shape == wanted.shape, f"{key}: {tuple(array.shape)}, expected {tuple(wanted.shape)}"
        bound = tolerance * wanted.abs().max().item() + torch.finfo(array.dtype).tiny
        assert difference <= bound, f"{key} differs by {difference:.2e}"
