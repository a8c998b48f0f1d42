"""A selective scan that computes nothing: it notes how many operations the scan takes, and returns the right shape.

torch's counter sees neither a C kernel nor a CUDA one, and of the blocked loop only some of its parts. So while
operations are counted every backend is replaced by this one.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from bench.scan import ScanInputs, dispatch


def scan_flops(n_times: int, n_directions: int, dim: int, d_state: int) -> int:
    """Return the operations of one window's scan, an exponential counted as one.

    Per step, direction and feature: for every state ``step A``, its exponential, times the state before, ``step u``
    times B, their sum, times C, and the sum over states (7); ``step u``, ``D u`` and its addition (3).
    """
    return n_times * n_directions * dim * (7 * d_state + 3)


@contextmanager
def counted_scans() -> Iterator[list[int]]:
    """Replace every backend within the block; give the list that each scan adds its operations to."""
    counts: list[int] = []

    def scan(inputs: ScanInputs, _reverse: tuple[bool, ...]) -> Tensor:
        batch, n_times, n_directions, dim = inputs.delta.shape
        counts.append(batch * scan_flops(n_times, n_directions, dim, inputs.A.shape[2]))
        return torch.empty_like(inputs.delta, dtype=inputs.u.dtype)

    with dispatch.stand_in(scan):
        yield counts
