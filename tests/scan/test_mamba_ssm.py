"""The adapter to mamba-ssm's CUDA kernel, on a stand-in with the kernel's documented layout. Untested on GPU."""

import sys
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bench.errors import ModelError
from bench.scan import ScanInputs, mamba_ssm
from tests.scan.cases import TOLERANCE, assert_close, gradients, random_inputs, run


def stand_in(u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, **rest: Any) -> Tensor:
    """Scan forwards ``(batch, features, n_times)`` with B and C ``(batch, groups, d_state, n_times)``."""
    assert rest["delta_softplus"]
    assert all(tensor.is_contiguous() for tensor in (u, delta, a, b, c))
    width = u.shape[1] // b.shape[1]
    b, c = b.repeat_interleave(width, 1), c.repeat_interleave(width, 1)
    step = F.softplus(delta + rest["delta_bias"][:, None])
    state, outputs = torch.zeros_like(b[..., 0]), []
    for t in range(u.shape[2]):
        state = torch.exp(step[..., t, None] * a) * state + (step * u)[..., t, None] * b[..., t]
        outputs.append((state * c[..., t]).sum(-1) + rest["D"] * u[..., t])
    return torch.stack(outputs, -1)


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("mamba_ssm.ops.selective_scan_interface")
    module.selective_scan_fn = stand_in  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.parametrize("shared", [True, False])
def test_brings_layouts_and_orders_together(shared: bool) -> None:
    inputs = random_inputs(shared=shared)
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in inputs))
    y = mamba_ssm.scan(leaves, (False, True))
    dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).float()
    assert_close({"y": y, **gradients(y, leaves, dy)}, run(inputs, "reference"), TOLERANCE[torch.float32])


def test_refuses_float64() -> None:
    with pytest.raises(ModelError, match="got float64; use scan=torch"):
        mamba_ssm.scan(random_inputs(dtype=torch.float64), (False, True))


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert mamba_ssm.obstacle("cuda") == "the package mamba-ssm is not installed, see docs/cuda.md"


def test_package_for_another_torch_is_an_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> ModuleType:
        raise ImportError("undefined symbol: _ZN3c10")

    monkeypatch.setattr("importlib.util.find_spec", lambda name: True)
    monkeypatch.setattr("importlib.import_module", broken)
    assert mamba_ssm.obstacle("cuda") == (
        "mamba-ssm is installed and cannot be imported: undefined symbol: _ZN3c10; see docs/cuda.md"
    )
