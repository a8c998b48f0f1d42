"""The C kernel behind the contract: pointers in, threads over samples, a gradient for autograd.

The kernel takes any strides and writes y, and the gradients of u, delta, B and C, in place. Samples are cut into
slices whose number depends on the batch alone, each with its own sums for A, D and delta_bias; these are added
in order, so that the result is the same to the byte on any number of threads.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from bench.errors import ModelError
from bench.native import threads
from bench.scan.contract import ScanInputs
from bench.scan.native.build import CHUNK_STEPS, MAX_STATE, PADDED_LANES
from bench.scan.native.library import SCAN, ScanArgs, Strides, add_slices

MAX_SLICES = 16

LOG2_E = math.log2(math.e)


def obstacle(kind: str) -> str | None:
    """Return why it cannot run on a kind of device, or None when it can. Compiles the kernel if need be."""
    return SCAN.obstacle(kind)


def scan(inputs: ScanInputs, reverse: Sequence[bool]) -> Tensor:
    """Return ``y`` ``(batch, n_times, n_directions, dim)``.

    Raises
    ------
    ModelError
        ``d_state`` is larger than the kernel's limit.
    """
    if inputs.A.shape[2] > MAX_STATE:
        raise ModelError(
            f"scan=native takes d_state up to {MAX_STATE}, got {inputs.A.shape[2]}; use scan=torch"
        )
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs):
        return _NativeScan.apply(*inputs, reverse)
    return _forward(_Prepared.of(inputs), reverse, None)


class _Prepared(NamedTuple):
    """The inputs as the kernel reads them: last axes contiguous, parameters padded, A in groups of features."""

    u: Tensor
    delta: Tensor
    B: Tensor
    C: Tensor
    A2: Tensor  # (n_directions, groups, d_state, PADDED_LANES), A log2(e)
    D: Tensor  # (n_directions, padded dim)
    delta_bias: Tensor  # (n_directions, padded dim)

    @classmethod
    def of(cls, inputs: ScanInputs) -> "_Prepared":
        u, delta, a, b, c, d, bias = (tensor.detach() for tensor in inputs)
        padding = -a.shape[1] % PADDED_LANES
        groups = F.pad(a * LOG2_E, (0, 0, 0, padding)).unflatten(1, (-1, PADDED_LANES)).transpose(2, 3)
        return cls(
            u=_last_contiguous(u),
            delta=_last_contiguous(delta),
            B=_last_contiguous(b),
            C=_last_contiguous(c),
            A2=groups.contiguous(),
            D=F.pad(d, (0, padding)).contiguous(),
            delta_bias=F.pad(bias, (0, padding)).contiguous(),
        )


class _NativeScan(torch.autograd.Function):
    """The scan with the states at the borders of chunks kept for the gradient."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Tensor:
        inputs, reverse = ScanInputs(*args[:-1]), args[-1]
        x = _Prepared.of(inputs)
        batch, n_times, _, _ = x.delta.shape
        borders = x.A2.new_empty(batch, math.ceil(n_times / CHUNK_STEPS) - 1, *x.A2.shape)
        ctx.save_for_backward(*inputs, borders)
        ctx.reverse = reverse
        return _forward(x, reverse, borders)

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator loses its types
        ctx: Any, *grad_outputs: Any
    ) -> tuple[Tensor | None, ...]:
        (dy,) = grad_outputs
        *inputs, borders = ctx.saved_tensors
        return (*_backward(ScanInputs(*inputs), ctx.reverse, borders, dy), None)


def _forward(x: _Prepared, reverse: Sequence[bool], borders: Tensor | None) -> Tensor:
    y = torch.empty_like(x.delta, memory_format=torch.contiguous_format)
    args = _arguments(x, directions := torch.tensor(reverse, dtype=torch.int64))
    args.y = y.data_ptr()
    args.borders = None if borders is None else borders.data_ptr()
    threads.for_each(
        lambda samples: SCAN.run("scan_forward", args, samples, y.dtype), len(y), args.slice_samples
    )
    del directions  # read by the kernel until here
    return y


def _backward(inputs: ScanInputs, reverse: Sequence[bool], borders: Tensor, dy: Tensor) -> ScanInputs:
    x = _Prepared.of(inputs)
    dy = _last_contiguous(dy)
    args = _arguments(x, directions := torch.tensor(reverse, dtype=torch.int64))
    n_slices = math.ceil(len(dy) / args.slice_samples)
    series = [torch.empty_like(t, memory_format=torch.contiguous_format) for t in (x.u, x.delta, x.B, x.C)]
    sums = [t.new_zeros(n_slices, *t.shape) for t in (x.A2, x.D, x.delta_bias)]
    args.borders, args.dy, args.dy_strides = borders.data_ptr(), dy.data_ptr(), Strides.of(dy)
    args.du, args.ddelta, args.dB, args.dC = (t.data_ptr() for t in series)
    args.dA2, args.dD, args.ddelta_bias = (t.data_ptr() for t in sums)
    threads.for_each(
        lambda samples: SCAN.run("scan_backward", args, samples, dy.dtype), len(dy), args.slice_samples
    )
    add_slices(args, dy.dtype)
    del directions  # read by the kernel until here
    du, ddelta, db, dc = series
    da, dd, dbias = (t[0] for t in sums)
    dim = inputs.A.shape[1]
    # With respect to A, not A2: the kernel multiplies the exponent's gradient by the step alone.
    da = da.transpose(2, 3).flatten(1, 2)[:, :dim]
    return ScanInputs(du, ddelta, da, db, dc, dd[:, :dim], dbias[:, :dim])


def _arguments(x: _Prepared, directions: Tensor) -> ScanArgs:
    batch, n_times, n_directions, dim = x.delta.shape
    _, n_groups, d_state, _ = x.A2.shape
    args = ScanArgs(batch, n_times, n_directions, dim, n_groups * PADDED_LANES, d_state)
    args.chunk, args.n_chunks = CHUNK_STEPS, math.ceil(n_times / CHUNK_STEPS)
    args.u_directions = x.u.shape[2]
    args.slice_samples = math.ceil(batch / MAX_SLICES)
    args.reverse = directions.data_ptr()
    for name in ("u", "delta", "B", "C"):
        setattr(args, f"{name}_strides", Strides.of(getattr(x, name)))
    for name in _Prepared._fields:
        setattr(args, name, getattr(x, name).data_ptr())
    return args


def _last_contiguous(tensor: Tensor) -> Tensor:
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()
