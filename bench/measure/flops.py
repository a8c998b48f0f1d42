"""Floating-point operations of one window's forward pass, counted without computing it.

Counted: matrix products and convolutions (a multiplication with its addition is two operations, a complex one eight),
Fourier transforms, and selective scans by `counted_scan`. Attention is counted in its plain form: fused kernels hide
their products. Not counted: whatever is written element by element (normalisation, activations, sorting, pooling,
Informer's sampled products, Autoformer's shifted sums). The largest such part is the softmax of attention: five or more
operations an entry of the matrix, beside 4 times the width of a head that are counted, so 8 percent of the attention at
heads of 16. A scan's exponential is counted; the count is not in MedMamba's favour.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from bench.errors import ModelError
from bench.measure.counted_scan import counted_scans

aten = torch.ops.aten


@dataclass(frozen=True)
class Flops:
    """Operations of one window: products and convolutions, Fourier transforms, scans."""

    products: int
    transforms: int
    scans: int

    @property
    def total(self) -> int:
        """All that is counted."""
        return self.products + self.transforms + self.scans


def count_flops(build: Callable[[], nn.Module], n_times: int, n_channels: int) -> Flops:
    """Count the operations of one window's forward pass in evaluation mode.

    Parameters
    ----------
    build
        Makes the model. It is called where tensors have shapes and no numbers, so that no size runs out of memory.
    n_times, n_channels
        Shape of the window.

    Raises
    ------
    ModelError
        What the model computes depends on the numbers in its tensors, so that nothing can be counted without them.
    """
    try:
        return _count(build, n_times, n_channels)
    except (
        DataDependentOutputException,
        DynamicOutputShapeException,
        UnsupportedFakeTensorException,
        UnsupportedOperatorException,
    ) as error:
        raise ModelError(
            f"operations cannot be counted without computing them: {type(error).__name__} {error}; "
            "in evaluation a model's shapes must not depend on numbers"
        ) from error


def _count(build: Callable[[], nn.Module], n_times: int, n_channels: int) -> Flops:
    counter = FlopCounterMode(display=False, custom_mapping=_FORMULAS)
    with FakeTensorMode(), torch.device("cpu"):
        # Parametrised weights that need a gradient cannot be tracked in inference mode.
        model = build().eval().requires_grad_(False)
        window = torch.empty(1, n_times, n_channels)
        with torch.inference_mode(), _plain_attention(), counted_scans() as scans, counter:
            model(window)
        by_operator = counter.get_flop_counts().get("Global", {})
        transforms = sum(by_operator.get(operator, 0) for operator in _TRANSFORMS)
        return Flops(counter.get_total_flops() - transforms, transforms, sum(scans))


@contextmanager
def _plain_attention() -> Iterator[None]:
    """Compute attention as two products, and encoder layers of torch's own without their fused path."""
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)


def real_transform_flops(n_series: int, length: int) -> int:
    """Return the usual estimate for a Fourier transform of real series, or back to them: 2.5 n log2(n) each."""
    return round(n_series * 2.5 * length * math.log2(length)) if length > 1 else 0


def _to_spectrum(x: Tensor, dim: list[int], *_args: Any, out_val: Tensor, **_kwargs: Any) -> int:
    return _transform(x, dim)


def _to_series(x: Tensor, dim: list[int], *_args: Any, out_val: Tensor, **_kwargs: Any) -> int:
    return _transform(out_val, dim)


def _transform(series: Tensor, dim: list[int]) -> int:
    length = math.prod(series.shape[axis] for axis in dim)
    return real_transform_flops(series.numel() // max(length, 1), length)


def _batched_product(a: Tensor, b: Tensor, *_args: Any, out_val: Tensor, **_kwargs: Any) -> int:
    batch, rows, inner = a.shape
    return batch * rows * inner * b.shape[2] * (8 if a.is_complex() else 2)


def _recurrent_layer(
    x_shape: torch.Size, from_input: torch.Size, from_state: torch.Size, *_args: Any, **_kwargs: Any
) -> int:
    """Count the products of one order of a recurrent layer: at each step one with the input, one with the state."""
    n_times, batch, _ = x_shape
    return 2 * n_times * batch * (math.prod(from_input) + math.prod(from_state))


def _raw(formula: Callable[..., int]) -> Callable[..., int]:
    """Mark a formula as one that wants tensors, not shapes."""
    formula._get_raw = True  # pyright: ignore[reportFunctionMemberAccess]
    return formula


_TRANSFORMS = (aten._fft_r2c, aten._fft_c2r)
_FORMULAS = {
    aten._fft_r2c: _raw(_to_spectrum),
    aten._fft_c2r: _raw(_to_series),
    aten.bmm: _raw(_batched_product),
    aten.mkldnn_rnn_layer: _recurrent_layer,
}
