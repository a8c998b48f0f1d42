"""The backend ``torch``: the sequential recurrence in blocks that stay in the cache, with a hand-written gradient.

A block is one direction, some samples and a chunk of time; its arrays are ``(time, samples, d_state, dim)``, so that
features are contiguous and a step in time is one operation on whole slices. Only the states at the borders of chunks
are kept for the gradient, which recomputes the others. Decays are never multiplied up over time nor taken the
logarithm of, so steps of any size keep their digits.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from bench.scan.contract import ScanInputs

CHUNK_STEPS = 16
# Numbers in one array of a block: few enough for the cache, enough to hide the cost of a call. Accelerators
# want large launches.
BLOCK_NUMBERS = {"cpu": 2**19}
BLOCK_NUMBERS_ELSEWHERE = 2**24

LOG2_E = math.log2(math.e)


def scan(inputs: ScanInputs, reverse: Sequence[bool]) -> Tensor:
    """Return ``y`` ``(batch, n_times, n_directions, dim)``."""
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs):
        return _BlockedScan.apply(*inputs, reverse)
    return _forward(inputs, reverse, lambda border: None)


class _BlockedScan(torch.autograd.Function):
    """The scan with the states at the borders of chunks kept for the gradient."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Tensor:
        inputs, reverse, borders = ScanInputs(*args[:-1]), args[-1], list[Tensor]()
        y = _forward(inputs, reverse, borders.append)
        ctx.save_for_backward(*inputs, *borders)
        ctx.reverse = reverse
        return y

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator loses its types
        ctx: Any, *grad_outputs: Any
    ) -> tuple[Tensor | None, ...]:
        n_inputs = len(ScanInputs._fields)
        inputs, borders = ScanInputs(*ctx.saved_tensors[:n_inputs]), list(ctx.saved_tensors[n_inputs:])
        with torch.autocast(inputs.u.device.type, enabled=False):
            return (*_backward(inputs, ctx.reverse, borders, *grad_outputs), None)


def _forward(inputs: ScanInputs, reverse: Sequence[bool], keep: Callable[[Tensor], None]) -> Tensor:
    """Return ``y``; hand the state before each chunk to ``keep``."""
    y = torch.empty_like(inputs.delta, memory_format=torch.contiguous_format)
    for block in _Work(inputs, reverse).blocks():
        state = block.no_state()
        for chunk in block.chunks():
            keep(state)
            state = _forward_chunk(chunk, state, y)
    return y


def _backward(inputs: ScanInputs, reverse: Sequence[bool], borders: list[Tensor], dy: Tensor) -> ScanInputs:
    """Return the gradients of all inputs; uses up ``borders``."""
    grads = ScanInputs(*(torch.zeros_like(tensor) for tensor in inputs))
    for block in reversed(list(_Work(inputs, reverse).blocks())):
        carry = block.no_state()
        for chunk in reversed(list(block.chunks())):
            carry = _backward_chunk(chunk, borders.pop(), carry, dy, grads)
    return grads


class _Work:
    """A scan cut into blocks, and the memory that they use in turn."""

    def __init__(self, inputs: ScanInputs, reverse: Sequence[bool]) -> None:
        self.inputs, self.reverse = inputs, reverse
        self.batch, n_times, _, dim = inputs.delta.shape
        numbers_a_step = dim * inputs.A.shape[2]
        numbers = BLOCK_NUMBERS.get(inputs.delta.device.type, BLOCK_NUMBERS_ELSEWHERE)
        self.n_steps = _even_part(n_times, CHUNK_STEPS)
        self.n_samples = _even_part(self.batch, numbers / (self.n_steps * numbers_a_step))
        self.memory = inputs.A.new_empty(3, (self.n_steps + 1) * self.n_samples * numbers_a_step)
        self.scratches: dict[tuple[int, int, bool], _Scratch] = {}

    def blocks(self) -> "Iterator[_Block]":
        """Return the blocks, direction by direction."""
        for direction, back in enumerate(self.reverse):
            for start in range(0, self.batch, self.n_samples):
                samples = slice(start, min(start + self.n_samples, self.batch))
                yield _Block(self, samples, direction, back)

    def scratch(self, n_times: int, n_samples: int, back: bool) -> "_Scratch":
        """Return the memory in the shape of a chunk; one chunk is at work at a time."""
        key = (n_times, n_samples, back)
        if key not in self.scratches:
            _, dim, d_state = self.inputs.A.shape
            self.scratches[key] = _Scratch(self.memory, (n_times, n_samples, d_state, dim), back)
        return self.scratches[key]


def _even_part(total: int, wanted: float) -> int:
    """Return the size of parts near ``wanted`` that leave no small rest."""
    return math.ceil(total / max(1, round(total / wanted)))


class _Scratch:
    """The large arrays of a chunk, ``(time, samples, d_state, dim)``, whole and as steps in the direction's order."""

    def __init__(self, memory: Tensor, shape: tuple[int, ...], back: bool) -> None:
        n_times, *rest = shape
        self.decay, self.d_state = (row[: math.prod(shape)].view(shape) for row in memory[:2])
        states = memory[2, : (n_times + 1) * math.prod(rest)].view(n_times + 1, *rest)
        self.before, self.after = (states[1:], states[:-1]) if back else (states[:-1], states[1:])
        order = slice(None, None, -1 if back else 1)
        self.decay_steps, self.d_state_steps = self.decay.unbind(0)[order], self.d_state.unbind(0)[order]
        self.before_steps, self.after_steps = self.before.unbind(0)[order], self.after.unbind(0)[order]


class _Block(NamedTuple):
    """Some samples and one direction, over all time."""

    work: _Work
    samples: slice
    direction: int
    back: bool

    def no_state(self) -> Tensor:
        """Return the state before the first step ``(samples, d_state, dim)``."""
        _, dim, d_state = self.work.inputs.A.shape
        return self.work.inputs.A.new_zeros(self.samples.stop - self.samples.start, d_state, dim)

    def chunks(self) -> "Iterator[_Chunk]":
        """Cut time into chunks, in the direction's order."""
        inputs, n_steps = self.work.inputs, self.work.n_steps
        n_times = inputs.delta.shape[1]
        a = inputs.A[self.direction].t().contiguous()
        parameters = {"A": a, "A2": a * LOG2_E, "D": inputs.D[self.direction]}
        starts = range(0, n_times, n_steps)
        for start in reversed(starts) if self.back else starts:
            yield self._chunk(slice(start, min(start + n_steps, n_times)), parameters)

    def _chunk(self, times: slice, parameters: dict[str, Tensor]) -> "_Chunk":
        x, k = self.work.inputs, self.direction
        where = (self.samples, times, k)
        where_u = (self.samples, times, min(k, x.u.shape[2] - 1))
        b = _time_first(x.B[where])
        return _Chunk(
            where,
            where_u,
            self.work.scratch(len(b), b.shape[1], self.back),
            u=_time_first(x.u[where_u]).unsqueeze(2),
            raw_step=(_time_first(x.delta[where]) + x.delta_bias[k]).unsqueeze(2),
            B=b,
            C=_time_first(x.C[where]),
            **parameters,
        )


class _Chunk(NamedTuple):
    """Some samples, one direction, a stretch of time; all arrays contiguous."""

    where: tuple[slice, slice, int]
    where_u: tuple[slice, slice, int]
    scratch: _Scratch
    u: Tensor  # (time, samples, 1, dim)
    raw_step: Tensor  # (time, samples, 1, dim), before softplus
    B: Tensor  # (time, samples, d_state)
    C: Tensor  # (time, samples, d_state)
    A: Tensor  # (d_state, dim)
    A2: Tensor  # (d_state, dim), A log2(e)
    D: Tensor  # (dim,)


def _walk(chunk: _Chunk, step: Tensor, entering: Tensor, border: Tensor) -> None:
    """Fill the decays and the states before and after each step."""
    s = chunk.scratch
    torch.mul(step, chunk.A2, out=s.decay).exp2_()  # on CPUs several times faster than exp_
    torch.mul(entering, chunk.B.unsqueeze(3), out=s.after)
    s.before_steps[0].copy_(border)
    for before, after, decay in zip(s.before_steps, s.after_steps, s.decay_steps, strict=True):
        after.addcmul_(before, decay)


def _forward_chunk(chunk: _Chunk, border: Tensor, y: Tensor) -> Tensor:
    """Write the chunk's part of ``y`` and return the state after it."""
    step = F.softplus(chunk.raw_step)
    _walk(chunk, step, step * chunk.u, border)
    output = chunk.C.unsqueeze(2) @ chunk.scratch.after  # (time, samples, 1, dim)
    y[chunk.where] = _time_second(output.addcmul_(chunk.u, chunk.D))
    return chunk.scratch.after_steps[-1].clone()


def _backward_chunk(chunk: _Chunk, border: Tensor, carry: Tensor, dy: Tensor, grads: ScanInputs) -> Tensor:
    """Add the chunk's gradients and return the gradient of ``border``, the state before it."""
    s, k, step = chunk.scratch, chunk.where[2], F.softplus(chunk.raw_step)
    entering = step * chunk.u
    _walk(chunk, step, entering, border)
    dy = _time_first(dy[chunk.where]).unsqueeze(2)  # (time, samples, 1, dim)
    torch.mul(dy, chunk.C.unsqueeze(3), out=s.d_state)
    s.d_state_steps[-1].add_(carry)
    for (earlier, _), (later, decay) in reversed(
        list(pairwise(zip(s.d_state_steps, s.decay_steps, strict=True)))
    ):
        earlier.addcmul_(later, decay)
    carry = s.d_state_steps[0] * s.decay_steps[0]
    d_entering = chunk.B.unsqueeze(2) @ s.d_state

    grads.C[chunk.where] = _time_second(dy @ s.after.transpose(2, 3))
    grads.B[chunk.where] = _time_second(entering @ s.d_state.transpose(2, 3))
    grads.u[chunk.where_u] += _time_second(torch.addcmul(d_entering * step, dy, chunk.D))
    grads.D[k] += (dy * chunk.u).sum((0, 1, 2))

    d_exponent = s.d_state.mul_(s.before).mul_(s.decay)  # gradient of step * A
    grads.A[k] += torch.mul(d_exponent, step, out=s.decay).sum((0, 1)).t()
    d_step = torch.mul(d_exponent, chunk.A, out=s.decay).sum(2, keepdim=True).addcmul_(d_entering, chunk.u)
    d_raw_step = d_step * torch.sigmoid(chunk.raw_step)
    grads.delta[chunk.where] = _time_second(d_raw_step)
    grads.delta_bias[k] += d_raw_step.sum((0, 1, 2))
    return carry


def _time_first(tensor: Tensor) -> Tensor:
    """Copy ``(samples, time, k)`` to contiguous ``(time, samples, k)``."""
    return tensor.transpose(0, 1).contiguous()


def _time_second(tensor: Tensor) -> Tensor:
    """View ``(time, samples, 1, k)`` as ``(samples, time, k)``."""
    return tensor.squeeze(2).transpose(0, 1)
