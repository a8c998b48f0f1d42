"""The C kernel behind the contract: pointers in, threads over pairs of window and head, a gradient for autograd.

Kept for the gradient are inputs, output, and the largest logit and the sum of exponentials of every query; the rest is
computed, and the dropped places drawn, again. A pair is one thread's from beginning to end, so the result is the same
to the byte on any number of threads.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from bench.attention.native.library import ATTENTION, AttentionArgs, Strided
from bench.dropout.dropped import Dropped
from bench.native import threads


def obstacle(kind: str) -> str | None:
    """Return why it cannot run on a kind of device, or None when it can. Compiles the kernel if need be."""
    return ATTENTION.obstacle(kind)


def attend(q: Tensor, k: Tensor, v: Tensor, scale: float, dropped: Dropped) -> Tensor:
    """Return ``(batch, heads, tokens of q, width of v)``, whose tokens lie before heads in memory."""
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (q, k, v)):
        return _NativeAttention.apply(q, k, v, scale, dropped)
    out = _empty(q, v.shape[3])
    _run("forward", _arguments(q, k, v, out, scale, dropped), q)
    return out


class _NativeAttention(torch.autograd.Function):
    """Attention with two numbers of each query kept for the gradient."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Tensor:
        q, k, v, scale, dropped = args
        out = _empty(q, v.shape[3])
        maxima, inverse_sums = q.new_empty(2, *q.shape[:3]).unbind(0)
        given = _arguments(q, k, v, out, scale, dropped)
        given.maxima, given.inverse_sums = maxima.data_ptr(), inverse_sums.data_ptr()
        _run("forward", given, q)
        ctx.save_for_backward(q, k, v, out, maxima, inverse_sums)
        ctx.scale, ctx.dropped = scale, dropped
        return out

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator loses its types
        ctx: Any, *grad_outputs: Any
    ) -> tuple[Tensor | None, ...]:
        (d_out,) = grad_outputs
        q, k, v, out, maxima, inverse_sums = ctx.saved_tensors
        given = _arguments(q, k, v, out, ctx.scale, ctx.dropped)
        given.maxima, given.inverse_sums = maxima.data_ptr(), inverse_sums.data_ptr()
        gradients = [_empty(tensor, tensor.shape[3]) for tensor in (q, k, v)]
        given.d_out = Strided.of(d_out)
        given.dq, given.dk, given.dv = map(Strided.of, gradients)
        _run("backward", given, q)
        return (*gradients, None, None)


def _empty(like: Tensor, width: int) -> Tensor:
    """Return memory for ``(batch, heads, tokens, width)``, a token's heads neighbours in it, as layers want them."""
    batch, heads, tokens, _ = like.shape
    return like.new_empty(batch, tokens, heads, width).transpose(1, 2)


def _arguments(q: Tensor, k: Tensor, v: Tensor, out: Tensor, scale: float, dropped: Dropped) -> AttentionArgs:
    args = AttentionArgs(q.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3])
    args.key, args.threshold, args.keep_scale = dropped.seed, dropped.threshold, dropped.keep_scale
    args.scale = scale
    args.q, args.k, args.v, args.out = map(Strided.of, (q, k, v, out))
    return args


def _run(direction: str, args: AttentionArgs, q: Tensor) -> None:
    threads.for_each(
        lambda pairs: ATTENTION.run(f"attention_{direction}", args, pairs, q.dtype),
        q.shape[0] * q.shape[1],
        1,
    )
