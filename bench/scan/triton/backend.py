"""The Triton kernels behind the contract: one operator for torch, with its gradient, and their launch.

Nothing is added up in an order that changes from run to run: the same inputs give the same bytes on the same device.
Untested on GPU: the kernels have run in Triton's interpreter, on CPU tensors, and are compiled for the
architectures that docs/cuda.md names.
"""

import importlib
import importlib.util
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from bench.errors import ModelError
from bench.scan.contract import ScanInputs

MAX_STATE, MAX_DIRECTIONS = 256, 31
# Steps between kept states, and steps whose states and decays the backward pass holds in registers at once.
CHUNK_STEPS, GROUP_STEPS = 16, 2

# Numbers of a state tile: as many as fit a warp's registers without spilling, forward and backward.
TILE = {torch.float32: (512, 256), torch.float64: (256, 64)}
TILE_INTERPRETED = (512, 512)
MAX_BLOCK = 32

# Terms of the logarithm's series that leave an error below the precision's own.
TERMS = {torch.float32: 8, torch.float64: 17}

LOG2_E = math.log2(math.e)


def obstacle(kind: str) -> str | None:
    """Return why it cannot run on a kind of device, or None when it can.

    ROCm devices are of the kind ``cuda``, as in torch.
    """
    if importlib.util.find_spec("triton") is None:
        return "the package triton is not installed; CUDA and ROCm builds of torch for Linux bring it"
    try:
        kernels = importlib.import_module("bench.scan.triton.kernels")
    except (ImportError, AttributeError) as error:  # a Triton older than the kernels' language
        return f"triton is installed and cannot be used: {error}"
    if kind == ("cpu" if kernels.INTERPRETED else "cuda"):
        return None
    return "triton runs on CUDA and ROCm devices only"


def scan(inputs: ScanInputs, reverse: Sequence[bool]) -> Tensor:
    """Return ``y`` ``(batch, n_times, n_directions, dim)``.

    Raises
    ------
    ModelError
        ``d_state`` or the number of directions is larger than the kernels' limit.
    """
    if inputs.A.shape[2] > MAX_STATE:
        raise ModelError(
            f"scan=triton takes d_state up to {MAX_STATE}, got {inputs.A.shape[2]}; use scan=torch"
        )
    if len(reverse) > MAX_DIRECTIONS:
        raise ModelError(
            f"scan=triton takes up to {MAX_DIRECTIONS} directions, got {len(reverse)}; use scan=torch"
        )
    wants_gradient = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs)
    return _scan(*inputs, list(reverse), CHUNK_STEPS if wants_gradient else 0)[0]


@torch.library.custom_op("bench::triton_scan", mutates_args=())
def _scan(
    u: Tensor,
    delta: Tensor,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    d: Tensor,
    delta_bias: Tensor,
    reverse: Sequence[bool],
    keep_every: int,
) -> tuple[Tensor, Tensor]:
    """Return y and the states before all chunks of ``keep_every`` steps but the first; with 0 none."""
    inputs = ScanInputs(u, delta, a, b, c, d, delta_bias)
    y, borders = _outputs(delta, a, keep_every)
    _launch(
        "forward",
        inputs,
        (*_series(u, delta, b, c), *_parameters(inputs), _bits(reverse), y, borders),
        KEEP=keep_every > 0,
    )
    return y, borders


@_scan.register_fake
def _fake_scan(*args: Any) -> tuple[Tensor, Tensor]:
    return _outputs(args[1], args[2], args[-1])


def _outputs(delta: Tensor, a: Tensor, keep_every: int) -> tuple[Tensor, Tensor]:
    batch, n_times, n_directions, dim = delta.shape
    n_borders = -(-n_times // keep_every) - 1 if keep_every else 0
    return delta.new_empty(delta.shape), delta.new_empty(batch, n_borders, n_directions, a.shape[2], dim)


@torch.library.custom_op("bench::triton_scan_backward", mutates_args=())
def _scan_backward(
    dy: Tensor,
    u: Tensor,
    delta: Tensor,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    d: Tensor,
    delta_bias: Tensor,
    borders: Tensor,
    reverse: Sequence[bool],
) -> list[Tensor]:
    """Return the gradients of the seven inputs."""
    inputs = ScanInputs(u, delta, a, b, c, d, delta_bias)
    batch, n_times, n_directions, dim = delta.shape
    n_blocks = math.ceil(dim / _block(inputs, "backward"))
    du, ddelta = (delta.new_empty(delta.shape) for _ in range(2))
    db, dc = (delta.new_empty(n_blocks, *b.shape) for _ in range(2))
    da = delta.new_empty(batch, n_directions, a.shape[2], dim)
    dd, dbias = (delta.new_empty(batch, n_directions, dim) for _ in range(2))
    _launch(
        "backward",
        inputs,
        (
            *_series(u, delta, b, c, dy),
            *_parameters(inputs),
            borders,
            _bits(reverse),
            *(du, ddelta, db, dc, da, dd, dbias),
            batch * n_times * n_directions,
        ),
        GROUP=GROUP_STEPS,
    )
    if u.shape[2] < n_directions:
        du = du.sum(2, keepdim=True)
    return [du, ddelta, da.sum(0).transpose(1, 2), db.sum(0), dc.sum(0), dd.sum(0), dbias.sum(0)]


@_scan_backward.register_fake
def _fake_backward(*args: Any) -> list[Tensor]:
    return [tensor.new_empty(tensor.shape) for tensor in args[1:8]]


def _keep_for_gradient(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(*inputs[:7], output[1])
    ctx.reverse = inputs[7]
    ctx.mark_non_differentiable(output[1])


def _gradient(ctx: Any, dy: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
    *inputs, borders = ctx.saved_tensors
    return (*_scan_backward(dy, *inputs, borders, ctx.reverse), None, None)


_scan.register_autograd(_gradient, setup_context=_keep_for_gradient)


def _launch(name: str, inputs: ScanInputs, args: tuple[Any, ...], **constants: Any) -> None:
    """Run a kernel over all samples, directions and blocks of features."""
    batch, n_times, n_directions, dim = inputs.delta.shape
    block = _block(inputs, name)
    kernel = getattr(importlib.import_module("bench.scan.triton.kernels"), name)
    with torch.cuda.device_of(inputs.delta):
        kernel[(batch * n_directions * math.ceil(dim / block),)](
            *args,
            n_times,
            n_directions,
            dim,
            **constants,
            **sizes(inputs.A.shape[2], inputs.delta.dtype),
            BLOCK=block,
            num_warps=1,
            enable_fp_fusion=True,
        )


def sizes(d_state: int, dtype: torch.dtype) -> dict[str, int]:
    """Return what both kernels are compiled for, beside the block."""
    return {
        "D_STATE": d_state,
        "STATES": _power_of_two(d_state),
        "CHUNK": CHUNK_STEPS,
        "TERMS": TERMS[dtype],
    }


def block_size(name: str, dim: int, d_state: int, tiles: tuple[int, int]) -> int:
    """Return the features of a program of the kernel ``forward`` or ``backward``."""
    tile = tiles[name == "backward"]
    return min(_power_of_two(dim), MAX_BLOCK, max(1, tile // _power_of_two(d_state)))


def _block(inputs: ScanInputs, name: str) -> int:
    tiles = TILE[inputs.delta.dtype] if inputs.delta.is_cuda else TILE_INTERPRETED
    return block_size(name, inputs.A.shape[1], inputs.A.shape[2], tiles)


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()


def _series(*tensors: Tensor) -> list[tuple[Tensor, int, int, int]]:
    """Return each series as the kernels take it; axes of length 1 in place of directions are read by all."""
    n_directions = tensors[1].shape[2]
    series = []
    for tensor in tensors:
        rows = tensor if tensor.stride(-1) == 1 or tensor.shape[-1] == 1 else tensor.contiguous()
        sample, time, direction, _ = rows.expand(-1, -1, n_directions, -1).stride()
        series.append((rows, sample, time, direction))
    return series


def _parameters(inputs: ScanInputs) -> tuple[Tensor, Tensor, Tensor]:
    """Return A log2(e) with features last, D and delta_bias, contiguous."""
    a2 = (inputs.A.transpose(1, 2) * LOG2_E).contiguous()
    return a2, inputs.D.contiguous(), inputs.delta_bias.contiguous()


def _bits(reverse: Sequence[bool]) -> int:
    return sum(1 << direction for direction, back in enumerate(reverse) if back)
