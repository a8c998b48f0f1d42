"""The choice of a backend on a CPU, and the one entry to all of them. Free of torch until it runs.

========== ======================================= ===========================
name       is                                      runs on
========== ======================================= ===========================
reference  whole matrices, any precision           CPU
torch      slices that fit a cache                 CPU
native     C kernel, built at first use            CPU, with a C compiler
========== ======================================= ===========================

All drop the same probabilities for the same seed. Other devices have kernels of torch's own.
"""

from typing import TYPE_CHECKING

from bench.attention.contract import check_shapes
from bench.backends import Backends
from bench.dropout.dropped import Dropped

if TYPE_CHECKING:
    from torch import Tensor

CHOICE = Backends(
    "attention",
    {
        "reference": "bench.attention.reference",
        "torch": "bench.attention.sliced",
        "native": "bench.attention.native.backend",
    },
    everywhere=("reference", "torch"),
    preferred={"cpu": ("native",)},
)
BACKENDS = CHOICE.names


def attention(
    q: "Tensor", k: "Tensor", v: "Tensor", *, scale: float, dropped: Dropped, backend: str = "auto"
) -> "Tensor":
    """Run the attention of :mod:`bench.attention.contract` on a CPU.

    Parameters
    ----------
    q, k, v
        ``(batch, heads, tokens, width)``, of any strides and number of tokens; the width of ``v`` may be another.
    scale
        Factor of the logits.
    dropped
        Which probabilities are dropped.
    backend
        A name, or ``auto`` for the fastest that this machine has.

    Returns
    -------
    Tensor
        ``(batch, heads, tokens of q, width of v)`` in the type of ``q``. The arithmetic is float64 when ``q`` is,
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

    check_shapes(q, k, v)
    chosen = CHOICE.module(CHOICE.choose(backend, q.device))
    precision = torch.float64 if q.dtype == torch.float64 else torch.float32
    with torch.autocast(q.device.type, enabled=False):
        cast = [tensor.to(precision) for tensor in (q, k, v)]
        if 0 in (*q.shape, *k.shape, *v.shape):
            return (cast[0] @ cast[1].transpose(-1, -2)) @ cast[2]
        return chosen.attend(*cast, scale, dropped).to(q.dtype)
