"""The choice of a backend, and the one entry to all of them. Free of torch until a scan runs.

========== ======================================= ===========================
name       is                                      runs on
========== ======================================= ===========================
reference  the plain loop, any precision           every device
torch      blocked loop, hand-written gradient     every device
native     C kernel, built at first use            CPU, with a C compiler
mamba-ssm  the published CUDA kernel               CUDA, with mamba-ssm (untested on GPU)
triton     two Triton kernels                      CUDA and ROCm, with triton (untested on GPU)
========== ======================================= ===========================
"""

import importlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

from bench.errors import ModelError, unknown_name
from bench.scan.contract import ScanInputs, check_shapes

if TYPE_CHECKING:
    import torch
    from torch import Tensor

VARIABLE = "BENCH_SCAN"

_MODULES = {
    "reference": "bench.scan.reference",
    "torch": "bench.scan.blocked",
    "native": "bench.scan.native.backend",
    "mamba-ssm": "bench.scan.mamba_ssm",
    "triton": "bench.scan.triton.backend",
}
BACKENDS = tuple(_MODULES)

Scan = Callable[[ScanInputs, tuple[bool, ...]], "Tensor"]
_stand_in: ContextVar[Scan | None] = ContextVar("stand_in", default=None)

log = logging.getLogger(__name__)


def selective_scan(inputs: ScanInputs, *, reverse: Sequence[bool], backend: str = "auto") -> "Tensor":
    """Run the scan of :mod:`bench.scan.contract`.

    Parameters
    ----------
    inputs
        The seven tensors, see :class:`bench.scan.ScanInputs`.
    reverse
        For each direction whether it runs from the last step to the first.
    backend
        A name, or ``auto`` for the fastest that this machine has.

    Returns
    -------
    Tensor
        ``y`` ``(batch, n_times, n_directions, dim)`` in the type of ``u``. The arithmetic is float64 when ``u`` is,
        float32 otherwise, also under autocast.

    Raises
    ------
    UsageError
        The backend's name is unknown.
    ModelError
        The backend cannot run here.
    ValueError
        The shapes do not fit each other.
    """
    import torch

    check_shapes(inputs, reverse)
    if (other := _stand_in.get()) is not None:
        return other(inputs, tuple(reverse))
    name = choose_backend(backend, inputs.u.device)
    precision = torch.float64 if inputs.u.dtype == torch.float64 else torch.float32
    with torch.autocast(inputs.u.device.type, enabled=False):
        cast = ScanInputs(*(tensor.to(precision) for tensor in inputs))
        if 0 in inputs.delta.shape:
            return (cast.u * cast.delta).to(inputs.u.dtype)
        return importlib.import_module(_MODULES[name]).scan(cast, tuple(reverse)).to(inputs.u.dtype)


@contextmanager
def stand_in(scan: Scan) -> Iterator[None]:
    """Have ``scan`` called in place of every backend within the block, in this thread."""
    token = _stand_in.set(scan)
    try:
        yield
    finally:
        _stand_in.reset(token)


def available_backends(device: "torch.device | str" = "cpu") -> list[str]:
    """Return the names of the backends that can run on a device of this machine, in the order of the table."""
    return [name for name in BACKENDS if _obstacle(name, _kind(device)) is None]


def choose_backend(name: str, device: "torch.device | str") -> str:
    """Return the backend that a scan with this setting runs on a device.

    ``auto`` stands for the environment variable BENCH_SCAN where it is set, else for the fastest available one.

    Raises
    ------
    UsageError
        The name, or the environment variable's value, is unknown.
    ModelError
        The backend asked for cannot run here; the message says why.
    """
    wanted = os.environ.get(VARIABLE) or "auto" if name == "auto" else name
    if wanted == "auto":
        return _fastest(_kind(device))
    if wanted not in _MODULES:
        raise unknown_name("scan backend", wanted, ("auto", *BACKENDS))
    obstacle = _obstacle(wanted, _kind(device))
    if obstacle:
        asked = f"{VARIABLE}={wanted}" if name == "auto" else f"scan={wanted}"
        raise ModelError(f"{asked} cannot run on {_kind(device)}: {obstacle}. Use scan=auto or scan=torch")
    return wanted


def _kind(device: "torch.device | str") -> str:
    return str(device).partition(":")[0]


@cache
def _fastest(kind: str) -> str:
    wanted = {"cpu": "native", "cuda": "mamba-ssm"}.get(kind)
    if wanted is None:
        return "torch"
    obstacle = _obstacle(wanted, kind)
    if obstacle is None:
        return wanted
    log.warning(
        "scan: %s is not available on %s (%s); using the slower torch backend", wanted, kind, obstacle
    )
    return "torch"


@cache
def _obstacle(name: str, kind: str) -> str | None:
    """Return why a backend cannot run on a kind of device, or None when it can."""
    if name in ("reference", "torch"):
        return None
    return importlib.import_module(_MODULES[name]).obstacle(kind)
