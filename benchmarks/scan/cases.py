"""What the scan benchmark runs: inputs at MedMamba's width, the backends and their rival, whole models."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

import bench.models
from bench.scan import ScanInputs, available_backends, selective_scan

Scan = Callable[[ScanInputs, Sequence[bool]], Tensor]

DIM, D_STATE, REVERSE = 256, 16, (False, True)
ADFTD = {"n_channels": 19, "n_times": 256, "n_classes": 3}

# The plain loop's work grows with the square of the length; beyond this a round takes half a minute and more.
PLAIN_LIMIT = 32 * 60 * 60
# mambapy keeps about ten arrays of 16 KiB for each sample and step in memory.
MAMBAPY_LIMIT = 32 * 600


class Shape(NamedTuple):
    """Samples and steps of a scan; 2 x 256 features and 16 states throughout."""

    batch: int
    n_times: int


def inputs(shape: Shape, dtype: torch.dtype = torch.float32) -> ScanInputs:
    """Draw inputs as a freshly initialised layer has them: both directions read one series."""
    draws = torch.Generator().manual_seed(0)

    def normal(*sizes: int) -> Tensor:
        return torch.randn(sizes, generator=draws).to(dtype)

    n = len(REVERSE)
    return ScanInputs(
        u=normal(*shape, 1, DIM),
        delta=0.5 * normal(*shape, n, DIM),
        A=-torch.arange(1, D_STATE + 1, dtype=dtype).expand(n, DIM, D_STATE).contiguous(),
        B=normal(*shape, n, D_STATE),
        C=normal(*shape, n, D_STATE),
        D=torch.ones(n, DIM, dtype=dtype),
        delta_bias=0.5 * normal(n, DIM) - 4,
    )


def contenders() -> dict[str, Scan]:
    """Return all that can run here, the plain loop first."""
    return {**{name: _backend(name) for name in available_backends()}, "mambapy": mambapy_scan}


def _backend(name: str) -> Scan:
    return lambda x, reverse: selective_scan(x, reverse=reverse, backend=name)


def mambapy_scan(x: ScanInputs, reverse: Sequence[bool]) -> Tensor:
    """Run mambapy's parallel scan, one direction after the other, as its own Mamba block calls it."""
    from mambapy.pscan import pscan  # pyright: ignore[reportMissingImports]

    outputs = []
    for k, back in enumerate(reverse):
        series = (x.u[:, :, min(k, x.u.shape[2] - 1)], x.delta[:, :, k], x.B[:, :, k], x.C[:, :, k])
        u, delta, b, c = (tensor.flip(1) for tensor in series) if back else series
        step = F.softplus(delta + x.delta_bias[k]).unsqueeze(-1)
        states = pscan(torch.exp(step * x.A[k]), step * b.unsqueeze(2) * u.unsqueeze(-1))
        y = (states @ c.unsqueeze(-1)).squeeze(-1) + x.D[k] * u
        outputs.append(y.flip(1) if back else y)
    return torch.stack(outputs, dim=2)


def fits(name: str, shape: Shape) -> bool:
    """Tell whether a contender is measured at a shape."""
    if name == "reference":
        return shape.batch * shape.n_times**2 <= PLAIN_LIMIT
    return name != "mambapy" or shape.batch * shape.n_times <= MAMBAPY_LIMIT


def forward(scan: Scan, x: ScanInputs) -> Callable[[], object]:
    """Return one forward pass."""

    def call() -> Tensor:
        with torch.inference_mode():
            return scan(x, REVERSE)

    return call


def forward_backward(scan: Scan, x: ScanInputs) -> Callable[[], tuple[Tensor, ...]]:
    """Return one forward and backward pass; it gives y and the gradients of all inputs."""
    leaves = ScanInputs(*(tensor.clone().requires_grad_() for tensor in x))
    dy = torch.randn(x.delta.shape, generator=torch.Generator().manual_seed(1)).to(x.u.dtype)

    def call() -> tuple[Tensor, ...]:
        y = scan(leaves, REVERSE)
        return (y.detach(), *torch.autograd.grad(y, leaves, dy))

    return call


def inference(backend: str, batch: int) -> Callable[[], object]:
    """Return one evaluation of MedMamba at ADFTD's shape."""
    model = bench.models.build("medmamba", **ADFTD, scan=backend).eval()
    x = torch.randn(batch, ADFTD["n_times"], ADFTD["n_channels"])

    def call() -> Tensor:
        with torch.inference_mode():
            return model(x)

    return call


def training(backend: str, batch: int) -> Callable[[], None]:
    """Return one training step of MedMamba at ADFTD's shape."""
    model = bench.models.build("medmamba", **ADFTD, scan=backend).train()
    x = torch.randn(batch, ADFTD["n_times"], ADFTD["n_channels"])
    labels = torch.arange(batch) % ADFTD["n_classes"]
    optimiser = torch.optim.AdamW(model.parameters(), fused=True)

    def call() -> None:
        optimiser.zero_grad()
        F.cross_entropy(model(x), labels).backward()
        optimiser.step()

    return call
