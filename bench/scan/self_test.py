"""Whether a backend computes the scan: y and all gradients against the plain loop in float64, at small sizes.

The lengths are MedMamba's own at 256 steps, two of them odd: mamba-ssm's gradient is reported wrong where a length does
not fill its blocks (state-spaces/mamba, issue 368).
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from bench.scan import reference
from bench.scan.contract import ScanInputs

LENGTHS = (51, 25, 10)
BATCH, DIM, D_STATE = 2, 20, 16
REVERSE = (False, True)
# Largest difference relative to the peak. A kernel with fast exponentials is off by some 1e-5, a wrong one by far more.
TOLERANCE = 1e-4

Scan = Callable[[ScanInputs, Sequence[bool]], Tensor]


def failure(scan: Scan, device: str) -> str | None:
    """Return what is wrong with what ``scan`` computes on a device, or None.

    Draws nothing from torch's own generators, and may be called wherever a scan is.
    """
    with (
        torch.inference_mode(False),
        torch.autocast("cpu", enabled=False),
        torch.autocast(device, enabled=False),
    ):
        for n_times in LENGTHS:
            inputs = _inputs(n_times)
            expected = _computed(reference.scan, ScanInputs(*(tensor.double() for tensor in inputs)))
            try:
                actual = _computed(scan, ScanInputs(*(tensor.to(device) for tensor in inputs)))
            except Exception as error:  # whatever a compiler, a driver or a stranger's kernel may raise
                lines = str(error).strip().splitlines() or ["it said nothing"]
                return f"{n_times} steps: {type(error).__name__}: {lines[0]}"
            for name, array in actual.items():
                worst = _difference(array, expected[name])
                if not worst <= TOLERANCE:
                    return (
                        f"{n_times} steps: {name} is off by {worst:.1e} of its peak, allowed {TOLERANCE:.0e}"
                    )
    return None


def _inputs(n_times: int) -> ScanInputs:
    """Draw inputs with the rates and steps of a trained model, float32 on the CPU."""
    draws, k = torch.Generator().manual_seed(n_times), len(REVERSE)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=draws)

    return ScanInputs(
        u=normal(BATCH, n_times, 1, DIM),
        delta=0.5 * normal(BATCH, n_times, k, DIM),
        A=-torch.arange(1.0, D_STATE + 1).expand(k, DIM, D_STATE),
        B=normal(BATCH, n_times, k, D_STATE),
        C=normal(BATCH, n_times, k, D_STATE),
        D=normal(k, DIM),
        delta_bias=0.5 * normal(k, DIM) - 4,
    )


def _computed(scan: Scan, inputs: ScanInputs) -> dict[str, Tensor]:
    """Return y and the gradients of all inputs under a fixed gradient of y, on the CPU in float64."""
    with torch.enable_grad():
        leaves = ScanInputs(*(tensor.detach().clone().requires_grad_() for tensor in inputs))
        y = scan(leaves, REVERSE)
        dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(0)).to(y)
        found = torch.autograd.grad(y, leaves, dy)
    names = ("y", *(f"the gradient of {field}" for field in ScanInputs._fields))
    return {name: array.detach().cpu().double() for name, array in zip(names, (y, *found), strict=True)}


def _difference(array: Tensor, expected: Tensor) -> float:
    """Return the largest difference over the expected peak; NaN where the array has one."""
    return ((array - expected).abs().max() / expected.abs().max()).item()
