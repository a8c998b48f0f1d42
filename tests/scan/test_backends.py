"""Every backend against the plain loop in float64, over shapes, types, layouts and extremes."""

import math

import pytest
import torch
from torch import Tensor

from bench.scan import ScanInputs, selective_scan
from tests.scan.cases import BACKENDS, FAST, TOLERANCE, assert_close, gradients, random_inputs, run

SHAPES = {
    "one step": {"n_times": 1},
    "one sample": {"batch": 1, "dim": 16},
    "one feature, one state": {"dim": 1, "d_state": 1},
    "width of vectors": {"dim": 32},
    "odd everything": {"batch": 5, "n_times": 67, "dim": 37, "d_state": 5},
    "own u for each direction": {"shared": False},
    "many chunks": {"batch": 2, "n_times": 131, "dim": 3},
    "more samples than slices": {"batch": 33, "n_times": 3, "dim": 3},
    "blocks of samples": {"batch": 70, "n_times": 3, "dim": 64},
}


def in_float64(inputs: ScanInputs) -> dict[str, Tensor]:
    return run(ScanInputs(*(tensor.double() for tensor in inputs)), "reference")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("backend", FAST)
def test_agrees_with_plain_loop(backend: str, shape: str, dtype: torch.dtype) -> None:
    inputs = random_inputs(**SHAPES[shape], dtype=dtype)
    assert_close(run(inputs, backend), in_float64(inputs), TOLERANCE[dtype])


@pytest.mark.parametrize("reverse", [(False,), (True,)])
@pytest.mark.parametrize("backend", FAST)
def test_runs_one_direction(backend: str, reverse: tuple[bool, ...]) -> None:
    inputs = random_inputs(n_directions=1, dtype=torch.float64)
    assert_close(run(inputs, backend, reverse), run(inputs, "reference", reverse), TOLERANCE[torch.float64])


@pytest.mark.parametrize("backend", BACKENDS)
def test_is_the_same_without_gradient(backend: str) -> None:
    inputs = random_inputs(n_times=70)
    with torch.inference_mode():
        y = selective_scan(inputs, reverse=(False, True), backend=backend)
    assert torch.equal(y, run(inputs, backend)["y"])


@pytest.mark.parametrize("backend", ["reference", "torch"])
def test_gradient_equals_finite_differences(backend: str) -> None:
    inputs = random_inputs(batch=2, n_times=5, dim=3, d_state=2, dtype=torch.float64)
    leaves = tuple(tensor.requires_grad_() for tensor in inputs)
    assert torch.autograd.gradcheck(
        lambda *tensors: selective_scan(ScanInputs(*tensors), reverse=(False, True), backend=backend), leaves
    )


@pytest.mark.parametrize("backend", FAST)
def test_gives_gradient_of_one_input_alone(backend: str) -> None:
    inputs = random_inputs()
    expected = run(inputs, backend)["grad_B"]
    b = inputs.B.requires_grad_()
    y = selective_scan(inputs, reverse=(False, True), backend=backend)
    dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(y.dtype)
    assert torch.equal(torch.autograd.grad(y, b, dy)[0], expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("backend", BACKENDS)
def test_computes_half_types_in_float32(backend: str, dtype: torch.dtype) -> None:
    halves = ScanInputs(*(tensor.to(dtype) for tensor in random_inputs(n_times=70)))
    y = selective_scan(halves, reverse=(False, True), backend=backend)
    exact = run(ScanInputs(*(tensor.float() for tensor in halves)), "reference")["y"]
    assert y.dtype == dtype
    # One rounding of the result, and float32 noise that may tip it.
    bound = torch.finfo(dtype).eps * exact.abs() + 1e-5
    assert ((y.float() - exact).abs() <= bound).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_stays_in_float32_under_autocast(backend: str) -> None:
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in random_inputs()))
    with torch.autocast("cpu", torch.bfloat16):
        y = selective_scan(leaves, reverse=(False, True), backend=backend)
    dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).float()
    assert_close({"y": y, **gradients(y, leaves, dy)}, in_float64(leaves), TOLERANCE[torch.float32])


@pytest.mark.parametrize("backend", FAST)
def test_takes_any_strides(backend: str) -> None:
    inputs = random_inputs()
    strided = ScanInputs(*(tensor.movedim(-1, 0).contiguous().movedim(0, -1) for tensor in inputs))
    assert not strided.delta.is_contiguous()
    assert_close(run(strided, backend), in_float64(inputs), TOLERANCE[torch.float32])


@pytest.mark.parametrize("backend", FAST)
def test_takes_an_expanded_gradient(backend: str) -> None:
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in random_inputs()))
    y = selective_scan(leaves, reverse=(False, True), backend=backend)
    (of_sum,) = torch.autograd.grad(y.sum(), leaves.u, retain_graph=True)
    (of_ones,) = torch.autograd.grad(y, leaves.u, torch.ones_like(y))
    assert torch.equal(of_sum, of_ones)


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_batch_gives_empty_output_and_gradient(backend: str) -> None:
    inputs = random_inputs(batch=0)
    u = inputs.u.requires_grad_()
    y = selective_scan(inputs, reverse=(False, True), backend=backend)
    y.sum().backward()
    assert y.shape == inputs.delta.shape
    assert u.grad is not None
    assert u.grad.shape == u.shape


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ScanInputs._fields)
@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_and_infinity_reach_the_output(backend: str, field: str, bad: float) -> None:
    inputs = random_inputs(n_times=70, dim=17)
    where = (0,) * inputs.A.ndim if field == "A" else (0,) * getattr(inputs, field).ndim
    getattr(inputs, field)[where] = bad
    y = selective_scan(inputs, reverse=(False, True), backend=backend)
    exact = selective_scan(inputs, reverse=(False, True), backend="reference")
    assert torch.equal(y.isfinite(), exact.isfinite())
    assert torch.equal(y.isnan(), exact.isnan())
    harmless = (field, bad) in {("A", -math.inf), ("delta", -math.inf), ("delta_bias", -math.inf)}
    assert y.isfinite().all() == harmless


@pytest.mark.parametrize("shift", [-120.0, -60.0, 10.0, 40.0, 1e4])
@pytest.mark.parametrize("backend", FAST)
def test_very_small_and_large_steps_keep_their_digits(backend: str, shift: float) -> None:
    inputs = random_inputs(n_times=70)
    inputs = inputs._replace(delta_bias=inputs.delta_bias + shift)
    assert_close(run(inputs, backend), in_float64(inputs), TOLERANCE[torch.float32])


@pytest.mark.parametrize("backend", FAST)
def test_growing_states_agree(backend: str) -> None:
    inputs = random_inputs(n_times=20)
    inputs = inputs._replace(A=-0.1 * inputs.A)
    assert_close(run(inputs, backend), in_float64(inputs), TOLERANCE[torch.float32])


@pytest.mark.parametrize("backend", FAST)
def test_keeps_states_at_borders_only(backend: str) -> None:
    inputs = random_inputs(batch=2, n_times=320, dim=32)
    kept: list[Tensor] = []
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in inputs))
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda t: t):
        selective_scan(leaves, reverse=(False, True), backend=backend)
    all_states = inputs.delta.numel() * inputs.A.shape[2]
    assert sum(tensor.numel() for tensor in kept) - sum(t.numel() for t in inputs) <= all_states / 16


@pytest.mark.parametrize("backend", FAST)
def test_refuses_a_second_derivative(backend: str) -> None:
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in random_inputs()))
    y = selective_scan(leaves, reverse=(False, True), backend=backend)
    (first,) = torch.autograd.grad(y.square().sum(), leaves.u, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
