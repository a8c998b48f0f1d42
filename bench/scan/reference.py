"""The plain sequential loop: slow, in any precision, differentiated by autograd. The oracle of the other backends.

It computes the decays and the inputs of all positions first, as ``(batch, features, n_times, d_state)``, and then
walks over time by indexing: semantics and layout of the sequential reference that mamba-ssm documents. Its
memory grows with all four axes, its training time with the square of ``n_times``.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from bench.scan.contract import ScanInputs


def scan(inputs: ScanInputs, reverse: Sequence[bool]) -> Tensor:
    """Return ``y`` ``(batch, n_times, n_directions, dim)``."""
    return scan_with_last_state(inputs, reverse)[0]


def scan_with_last_state(inputs: ScanInputs, reverse: Sequence[bool]) -> tuple[Tensor, Tensor]:
    """Return ``y`` and the state after each direction's last step ``(batch, n_directions, dim, d_state)``."""
    directions, dim, d_state = inputs.A.shape
    shared = (inputs.u.expand_as(inputs.delta), inputs.delta, inputs.B, inputs.C)
    u, delta, b, c = (_in_order(tensor, reverse).permute(0, 2, 3, 1) for tensor in shared)
    u, delta = u.flatten(1, 2), delta.flatten(1, 2)  # (batch, features, n_times)
    b, c = (tensor.repeat_interleave(dim, 1) for tensor in (b, c))  # (batch, features, d_state, n_times)
    step = F.softplus(delta + inputs.delta_bias.reshape(-1, 1))
    decay = torch.exp(torch.einsum("bft,fs->bfts", step, inputs.A.flatten(0, 1)))
    entering = torch.einsum("bft,bfst,bft->bfts", step, b, u)
    state = torch.zeros_like(decay[:, :, 0])
    outputs = []
    for t in range(u.shape[2]):
        state = decay[:, :, t] * state + entering[:, :, t]
        outputs.append(torch.einsum("bfs,bfs->bf", state, c[..., t]))
    y = torch.stack(outputs, dim=2) + inputs.D.reshape(-1, 1) * u
    y = y.unflatten(1, (directions, dim)).permute(0, 3, 1, 2)
    return _in_order(y, reverse), state.view(-1, directions, dim, d_state)


def _in_order(tensor: Tensor, reverse: Sequence[bool]) -> Tensor:
    """Flip the directions that run backwards ``(batch, n_times, n_directions, ...)``; its own inverse."""
    if not any(reverse):
        return tensor
    return torch.stack(
        [x.flip(1) if back else x for x, back in zip(tensor.unbind(2), reverse, strict=True)], dim=2
    )
