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

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from bench.backends import Backends
from bench.scan.contract import ScanInputs, check_shapes

if TYPE_CHECKING:
    from torch import Tensor


def _self_test(module: Any, kind: str) -> str | None:
    """Return what is wrong with what a backend computes on a GPU, or None; elsewhere the tests have compared it."""
    if kind != "cuda":
        return None
    from bench.scan import self_test

    return self_test.failure(module.scan, kind)


CHOICE = Backends(
    "scan",
    {
        "reference": "bench.scan.reference",
        "torch": "bench.scan.blocked",
        "native": "bench.scan.native.backend",
        "mamba-ssm": "bench.scan.mamba_ssm",
        "hub": "bench.scan.hub",
        "triton": "bench.scan.triton.backend",
    },
    everywhere=("reference", "torch"),
    # The hub's kernel is a download, so only its name stands for it.
    preferred={"cpu": ("native",), "cuda": ("mamba-ssm", "triton")},
    self_test=_self_test,
)
BACKENDS = CHOICE.names
available_backends, choose_backend, obstacles = CHOICE.available, CHOICE.choose, CHOICE.obstacles

Scan = Callable[[ScanInputs, tuple[bool, ...]], "Tensor"]
_stand_in: ContextVar[Scan | None] = ContextVar("stand_in", default=None)


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
        return CHOICE.module(name).scan(cast, tuple(reverse)).to(inputs.u.dtype)


@contextmanager
def stand_in(scan: Scan) -> Iterator[None]:
    """Have ``scan`` called in place of every backend within the block, in this thread."""
    token = _stand_in.set(scan)
    try:
        yield
    finally:
        _stand_in.reset(token)
