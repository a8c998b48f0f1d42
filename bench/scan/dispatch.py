"""The choice of a backend, and the one entry to all of them. Free of torch until a scan runs.

========== ======================================= ===========================
name       is                                      runs on
========== ======================================= ===========================
reference  the plain loop, any precision           every device
torch      blocked loop, hand-written gradient     every device
native     C kernel, built at first use            CPU, with a C compiler
mamba-ssm  the published CUDA kernel               CUDA, with mamba-ssm (untested on GPU)
hub        the same, built and hosted by others    CUDA, with kernels and BENCH_SCAN=hub (untested on GPU)
triton     two Triton kernels                      CUDA and ROCm, with triton (untested on GPU)
========== ======================================= ===========================

What runs on a GPU is compared with the plain loop at its first use in a process, and refused when it differs.
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
    "hub": "bench.scan.hub",
    "triton": "bench.scan.triton.backend",
}
BACKENDS = tuple(_MODULES)

# What ``auto`` tries on a kind of device, the fastest first; elsewhere it is torch. The hub's kernel is a download, so
# only its name stands for it.
_ORDER = {"cpu": ("native", "torch"), "cuda": ("mamba-ssm", "triton", "torch")}

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


def obstacles(device: "torch.device | str" = "cpu") -> dict[str, str]:
    """Return why backends cannot run on a device of this machine, by the names of those that cannot."""
    found = {name: _obstacle(name, _kind(device)) for name in BACKENDS}
    return {name: obstacle for name, obstacle in found.items() if obstacle is not None}


def preferred(device: "torch.device | str") -> tuple[str, ...]:
    """Return the names that ``auto`` tries on a device, the first that can run there being taken."""
    return _ORDER.get(_kind(device), ("torch",))


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
    found = {name: _obstacle(name, kind) for name in preferred(kind)}
    name = next(name for name, obstacle in found.items() if obstacle is None)
    skipped = {other: why for other, why in found.items() if why is not None}
    if skipped and name == "torch":
        reasons = "; ".join(f"{other} is not available on {kind} ({why})" for other, why in skipped.items())
        log.warning("scan: %s; using the slower torch backend", reasons)
    return name


@cache
def _obstacle(name: str, kind: str) -> str | None:
    """Return why a backend cannot run on a kind of device, or None when it can."""
    if name in ("reference", "torch"):
        return None
    module = importlib.import_module(_MODULES[name])
    if (obstacle := module.obstacle(kind)) is not None:
        return obstacle
    return _failure(name, kind) if kind == "cuda" else None


def _failure(name: str, kind: str) -> str | None:
    """Return what is wrong with what a backend computes on a kind of device, and warn of it, or None."""
    from bench.scan.self_test import failure

    found = failure(importlib.import_module(_MODULES[name]).scan, kind)
    if found is not None:
        log.warning("scan: %s fails its self-test on %s (%s); it is not used", name, kind, found)
    return found and f"it fails its self-test: {found}"
