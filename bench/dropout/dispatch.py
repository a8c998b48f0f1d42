"""The choice of a backend on a CPU, and the one entry to both. Free of torch until it runs.

======== ============================ ===========================
name     is                           runs on
======== ============================ ===========================
torch    words drawn by NumPy         CPU
native   C kernel, built at first use CPU, with a C compiler
======== ============================ ===========================

Both give the same bytes. Number n of a tensor, in the order of its axes, is dropped by the 16 bits that its seed gives
for lane ``l = n % 16`` and row ``r = n % 128 // 16`` of group ``g = n // 128``: of the block of the counter
``(16 g + l modulo 2^32, 16 g // 2^32, 0, 0)`` the word ``r // 2``, its high half where r is odd.
"""

from typing import TYPE_CHECKING

from bench.backends import Backends
from bench.dropout.dropped import Dropped

if TYPE_CHECKING:
    from torch import Tensor

CHOICE = Backends(
    "dropout",
    {"torch": "bench.dropout.drawn", "native": "bench.dropout.native.backend"},
    everywhere=("torch",),
    preferred={"cpu": ("native",)},
)
BACKENDS = CHOICE.names


def drop(x: "Tensor", dropped: Dropped, *, backend: str = "auto") -> "Tensor":
    """Return a tensor on a CPU with the dropped numbers times zero and the others times ``keep_scale``.

    Parameters
    ----------
    x
        Any shape and strides. The result is contiguous, of the same type; shorter types are computed in float32.
    dropped
        What is dropped.
    backend
        A name, or ``auto`` for the fastest that this machine has.

    Raises
    ------
    UsageError
        The backend's name is unknown.
    ModelError
        The backend cannot run here.
    """
    import torch

    from bench.dropout.gradient import dropped_out

    precision = torch.float64 if x.dtype == torch.float64 else torch.float32
    multiply = CHOICE.module(CHOICE.choose(backend, x.device)).multiply
    return dropped_out(x.to(precision), dropped, multiply).to(x.dtype)
