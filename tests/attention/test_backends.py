"""Every backend against the definition in float64 with the same places dropped, over shapes, types and layouts."""

import math

import pytest
import torch
from torch import Tensor

from bench.attention import attention
from bench.dropout import Dropped
from tests.attention.cases import (
    FAST,
    SCALE,
    SEED,
    TOLERANCE,
    Inputs,
    assert_close,
    needs_compiler,
    random_inputs,
    results,
)

SHAPES = {
    "odd everything": (37, 41, 5, 19),
    "whole vectors": (64, 64, 16, 16),
    "one query": (1, 41, 16, 16),
    "one key": (37, 1, 16, 16),
    "many keys": (9, 200, 8, 8),
    "many queries": (150, 9, 17, 16),
    "wide": (18, 20, 40, 70),
    "narrow": (18, 20, 1, 1),
}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("backend", FAST)
def test_agrees_with_the_definition(backend: str, shape: str, dtype: torch.dtype) -> None:
    inputs = random_inputs(*SHAPES[shape])
    assert_close(results(inputs.to(dtype), backend), results(inputs, "reference"), TOLERANCE[dtype])


@pytest.mark.parametrize("rate", [0.0, 1e-12, 0.1, 0.9, 1.0])
@pytest.mark.parametrize("backend", FAST)
def test_drops_at_any_rate(backend: str, rate: float) -> None:
    inputs = random_inputs()
    assert_close(results(inputs.float(), backend, rate), results(inputs, "reference", rate), 5e-6)


def test_definition_without_dropout_is_torchs() -> None:
    q, k, v, _ = random_inputs()
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=SCALE)
    torch.testing.assert_close(results(random_inputs(), "reference", 0.0)[0], expected)


@pytest.mark.parametrize("backend", ["reference", *FAST])
def test_gradient_equals_finite_differences(backend: str) -> None:
    leaves = tuple(tensor.requires_grad_() for tensor in random_inputs(9, 11, 3, 2, heads=1)[:3])
    dropped = Dropped.at(0.5, SEED)
    assert torch.autograd.gradcheck(
        lambda q, k, v: attention(q, k, v, scale=SCALE, dropped=dropped, backend=backend),
        leaves,
        fast_mode=True,
    )


@pytest.mark.parametrize("backend", FAST)
def test_is_the_same_without_gradient(backend: str) -> None:
    q, k, v, _ = inputs = random_inputs().float()
    with torch.inference_mode():
        out = attention(q, k, v, scale=SCALE, dropped=Dropped.at(0.3, SEED), backend=backend)
    assert torch.equal(out, results(inputs, backend)[0])


@pytest.mark.parametrize("backend", FAST)
def test_takes_any_strides(backend: str) -> None:
    inputs = random_inputs()
    strided = Inputs(*(tensor.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0) for tensor in inputs))
    assert not strided.q.is_contiguous()
    assert_close(results(strided.float(), backend), results(inputs, "reference"), 5e-6)


@pytest.mark.parametrize("backend", FAST)
def test_takes_expanded_tensors(backend: str) -> None:
    inputs = random_inputs(batch=1)
    expanded = Inputs(*(tensor.expand(2, -1, -1, -1) for tensor in inputs))
    assert expanded.k.stride(0) == 0
    assert_close(results(expanded.float(), backend), results(expanded, "reference"), 5e-6)


@pytest.mark.parametrize("scale", [-0.5, 30.0])
@pytest.mark.parametrize("backend", FAST)
def test_scale_may_be_of_any_sign_and_size(backend: str, scale: float) -> None:
    inputs = random_inputs()
    expected = results(inputs, "reference", scale=scale)
    # Logits of up to 1000 keep their digits, but not those after the comma.
    assert_close(results(inputs.float(), backend, scale=scale), expected, 5e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("backend", FAST)
def test_computes_half_types_in_float32(backend: str, dtype: torch.dtype) -> None:
    halves = random_inputs().to(dtype)
    out = results(halves, backend)[0]
    exact = results(halves.to(torch.float32), backend)[0]
    assert out.dtype == dtype
    assert torch.equal(out, exact.to(dtype))


@pytest.mark.parametrize("backend", FAST)
def test_stays_in_float32_under_autocast(backend: str) -> None:
    inputs = random_inputs().float()
    leaves = [tensor.requires_grad_() for tensor in inputs[:3]]
    with torch.autocast("cpu", torch.bfloat16):
        out = attention(*leaves, scale=SCALE, dropped=Dropped.at(0.3, SEED), backend=backend)
    found = [out.detach(), *torch.autograd.grad(out, leaves, inputs.d_out)]
    assert_close(found, results(inputs.to(torch.float64), "reference"), 5e-6)


@pytest.mark.parametrize("empty", [{"batch": 0}, {"n_queries": 0}])
@pytest.mark.parametrize("backend", FAST)
def test_nothing_gives_nothing(backend: str, empty: dict[str, int]) -> None:
    inputs = random_inputs(**empty)
    found = results(inputs, backend)
    assert [tensor.shape for tensor in found] == [inputs.d_out.shape, *(t.shape for t in inputs[:3])]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["q", "k", "v"])
@pytest.mark.parametrize("backend", FAST)
def test_nan_and_infinity_reach_the_output(backend: str, field: str, bad: float) -> None:
    inputs = random_inputs(n_keys=70).float()
    getattr(inputs, field)[0, 1, 30, 2] = bad
    out, expected = (results(inputs, name, 0.0)[0] for name in (backend, "reference"))
    assert not out.isfinite().all()
    assert torch.equal(out.isfinite(), expected.isfinite())


@pytest.mark.parametrize("backend", FAST)
def test_keeps_no_matrix_for_the_gradient(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.attention.sliced.MATRIX_BUDGET_BYTES", 2**16)
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    leaves = [tensor.requires_grad_() for tensor in random_inputs(200, 200)[:3]]
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        attention(*leaves, scale=SCALE, dropped=Dropped.at(0.3, SEED), backend=backend)
    matrix = 2 * 3 * 200 * 200 * 8
    assert sum(kept.values()) - sum(leaf.untyped_storage().nbytes() for leaf in leaves) < matrix / 5


@needs_compiler
def test_native_refuses_a_second_derivative() -> None:
    leaves = [tensor.requires_grad_() for tensor in random_inputs()[:3]]
    out = attention(*leaves, scale=SCALE, dropped=Dropped.at(0.3, SEED), backend="native")
    (first,) = torch.autograd.grad(out.square().sum(), leaves[0], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
