"""mamba-ssm's CUDA kernel as Hugging Face's hub hosts it, built for many versions of torch. Untested on GPU.

It is downloaded, so it is used only where the environment says BENCH_SCAN=hub. The package ``kernels`` finds the build
for this machine, keeps it in its own cache, and imports what it downloads.
Source: huggingface/kernels-community, folder ``mamba-ssm``; the package's ``get_kernel``.
"""

import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import Tensor

from bench.errors import ModelError
from bench.scan import mamba_ssm
from bench.scan.contract import ScanInputs
from bench.scan.dispatch import CHOICE

REPOSITORY, REVISION = "kernels-community/mamba-ssm", "main"


def obstacle(kind: str) -> str | None:
    """Return why it cannot run on a kind of device, or None when it can. Downloads the kernel if that is allowed."""
    if kind != "cuda":
        return "the hub's kernel runs on CUDA devices only"
    if importlib.util.find_spec("kernels") is None:
        return "the package kernels is not installed, see docs/cuda.md"
    if os.environ.get(CHOICE.variable) != "hub":
        return f"it would be downloaded; set {CHOICE.variable}=hub to allow that"
    try:
        _kernel()
    except (
        ImportError,
        OSError,
        RuntimeError,
        ValueError,
        AttributeError,
    ) as error:  # network, no such build
        return f"{REPOSITORY} cannot be loaded: {error}; see docs/cuda.md"
    return None


def scan(inputs: ScanInputs, reverse: Sequence[bool]) -> Tensor:
    """Return ``y`` ``(batch, n_times, n_directions, dim)``.

    Raises
    ------
    ModelError
        The inputs are float64, which the kernel does not know.
    """
    if inputs.u.dtype == torch.float64:
        raise ModelError("scan=hub computes in float32 and got float64; use scan=torch")
    return mamba_ssm.adapted(_kernel(), inputs, reverse)


@cache
def _kernel() -> Callable[..., Tensor]:
    return importlib.import_module("kernels").get_kernel(REPOSITORY, revision=REVISION).selective_scan_fn
