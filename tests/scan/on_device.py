"""The Triton kernels against the plain loop: on a GPU, or on the CPU in Triton's interpreter.

Not collected by itself: `test_triton.py` runs it with TRITON_INTERPRET=1, set before Triton is imported, and
`make gpu-check` without. An interpreted step takes milliseconds, so shapes are small.
"""

import math
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import Tensor

from bench import models
from bench.errors import ModelError
from bench.scan import ScanInputs, available_backends, selective_scan
from bench.scan.triton import backend
from bench.train.seeding import seed_default_generators
from tests.scan.cases import TOLERANCE, assert_close, golden, gradients, random_inputs

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

SHAPES = {
    "one step": {"batch": 2, "n_times": 1, "dim": 3},
    "one feature, one state": {"batch": 1, "n_times": 5, "dim": 1, "d_state": 1},
    "several blocks, odd everything": {"batch": 1, "n_times": 18, "dim": 37, "d_state": 5},
    "a block filled, a chunk filled": {"batch": 1, "n_times": 16, "dim": 32},
    "own u for each direction": {"batch": 2, "n_times": 6, "dim": 4, "shared": False},
    "large state": {"batch": 1, "n_times": 5, "dim": 2, "d_state": 256},
}
# Tokens of the datasets' windows at the published strides, and a whole window of Sleep-EDF.
LENGTHS = [10, 25, 51, 120, *(pytest.param(n, marks=pytest.mark.slow) for n in (300, 600, 3000))]


def on_device(inputs: ScanInputs, **change: Any) -> ScanInputs:
    """Copy inputs to the device, in another type where ``dtype`` is given."""
    return ScanInputs(*(tensor.to(DEVICE, **change) for tensor in inputs))


def run(inputs: ScanInputs, name: str, reverse: tuple[bool, ...] = (False, True)) -> dict[str, Tensor]:
    """Return y and the gradients of all inputs, on the CPU."""
    leaves = ScanInputs(*(tensor.detach().requires_grad_() for tensor in on_device(inputs)))
    y = selective_scan(leaves, reverse=reverse, backend=name)
    dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = {"y": y.detach(), **gradients(y, leaves, dy.to(DEVICE, y.dtype))}
    return {key: array.cpu() for key, array in found.items()}


def exact(inputs: ScanInputs, reverse: tuple[bool, ...] = (False, True)) -> dict[str, Tensor]:
    return run(ScanInputs(*(tensor.double() for tensor in inputs)), "reference", reverse)


def test_runs_here() -> None:
    assert "triton" in available_backends(DEVICE)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_plain_loop(shape: str, dtype: torch.dtype) -> None:
    inputs = random_inputs(**SHAPES[shape], dtype=dtype)
    assert_close(run(inputs, "triton"), exact(inputs), TOLERANCE[dtype])


@pytest.mark.parametrize("n_times", LENGTHS)
def test_agrees_at_the_lengths_of_real_windows(n_times: int) -> None:
    inputs = random_inputs(batch=1, n_times=n_times, dim=3, n_directions=1)
    assert_close(run(inputs, "triton", (True,)), exact(inputs, (True,)), TOLERANCE[torch.float32])


@pytest.mark.slow
def test_equals_recorded_scan() -> None:
    inputs, dy, expected = golden("selective_scan_stress", torch.float32)
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in on_device(inputs)))
    y = selective_scan(leaves, reverse=(False, False), backend="triton")
    actual = {"y": y, **gradients(y, leaves, dy.to(DEVICE))}
    assert_close({key: array.cpu() for key, array in actual.items()}, expected, TOLERANCE[torch.float32])


def test_same_inputs_give_the_same_bytes() -> None:
    inputs = random_inputs(batch=2, n_times=6, dim=37)
    first, second = run(inputs, "triton"), run(inputs, "triton")
    assert all(torch.equal(second[key], array) for key, array in first.items())


def test_is_the_same_without_gradient() -> None:
    inputs = random_inputs(batch=1, n_times=18, dim=4)
    with torch.inference_mode():
        y = selective_scan(on_device(inputs), reverse=(False, True), backend="triton")
    assert torch.equal(y.cpu(), run(inputs, "triton")["y"])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_computes_half_types_in_float32(dtype: torch.dtype) -> None:
    halves = ScanInputs(*(tensor.to(dtype) for tensor in random_inputs(batch=1, n_times=18, dim=4)))
    y = selective_scan(on_device(halves), reverse=(False, True), backend="triton").cpu()
    wanted = exact(halves)["y"]
    assert y.dtype == dtype
    assert ((y.double() - wanted).abs() <= torch.finfo(dtype).eps * wanted.abs() + 1e-5).all()


def test_stays_in_float32_under_autocast() -> None:
    inputs = random_inputs(batch=1, n_times=18, dim=4)
    with torch.autocast(DEVICE, torch.bfloat16):
        actual = run(inputs, "triton")
    assert_close(actual, exact(inputs), TOLERANCE[torch.float32])


def test_takes_any_strides() -> None:
    inputs = on_device(random_inputs(batch=2, n_times=6, dim=4))
    strided = ScanInputs(*(tensor.movedim(-1, 0).contiguous().movedim(0, -1) for tensor in inputs))
    series = inputs._replace(delta=inputs.delta.transpose(0, 1).contiguous().transpose(0, 1))
    assert not strided.delta.is_contiguous()
    expected = exact(inputs)
    for other in (strided, series):
        assert_close(run(other, "triton"), expected, TOLERANCE[torch.float32])


def test_takes_an_expanded_gradient() -> None:
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in on_device(random_inputs(1, 6, 4))))
    y = selective_scan(leaves, reverse=(False, True), backend="triton")
    (of_sum,) = torch.autograd.grad(y.sum(), leaves.u, retain_graph=True)
    (of_ones,) = torch.autograd.grad(y, leaves.u, torch.ones_like(y))
    assert torch.equal(of_sum, of_ones)


def test_empty_batch_gives_empty_output() -> None:
    inputs = on_device(random_inputs(batch=0))
    assert selective_scan(inputs, reverse=(False, True), backend="triton").shape == inputs.delta.shape


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # NumPy's, when interpreted
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("d_state", [16, 5])
def test_nan_and_infinity_reach_the_output(d_state: int, bad: float) -> None:
    inputs = random_inputs(batch=4, n_times=6, dim=3, d_state=d_state)
    inputs.u[0, 1, 0, 0] = inputs.delta[1, 1, 0, 0] = inputs.B[2, 1, 0, 0] = inputs.C[3, 1, 0, 0] = bad
    inputs.A[1, 1, 0] = inputs.D[1, 2] = bad
    y = selective_scan(on_device(inputs), reverse=(False, True), backend="triton").cpu()
    wanted = exact(inputs)["y"]
    assert torch.equal(y.isfinite(), wanted.isfinite())
    assert torch.equal(y.isnan(), wanted.isnan())
    assert not y.isfinite().all()
    assert y.isfinite().any()


@pytest.mark.parametrize("shift", [-120.0, -60.0, 10.0, 1e4])
def test_very_small_and_large_steps_keep_their_digits(shift: float) -> None:
    inputs = random_inputs(batch=1, n_times=18, dim=4)
    inputs = inputs._replace(delta_bias=inputs.delta_bias + shift)
    assert_close(run(inputs, "triton"), exact(inputs), TOLERANCE[torch.float32])


def test_growing_states_agree() -> None:
    inputs = random_inputs(batch=1, n_times=18, dim=4)
    inputs = inputs._replace(A=-0.1 * inputs.A)
    assert_close(run(inputs, "triton"), exact(inputs), TOLERANCE[torch.float32])


def test_keeps_states_at_borders_only() -> None:
    inputs = on_device(random_inputs(batch=1, n_times=64, dim=4))
    kept: list[Tensor] = []
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in inputs))
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda t: t):
        selective_scan(leaves, reverse=(False, True), backend="triton")
    all_states = inputs.delta.numel() * inputs.A.shape[2]
    assert sum(tensor.numel() for tensor in kept) - sum(t.numel() for t in inputs) <= all_states / 16


def test_refuses_a_second_derivative() -> None:
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in on_device(random_inputs(1, 4, 2))))
    y = selective_scan(leaves, reverse=(False, True), backend="triton")
    (first,) = torch.autograd.grad(y.square().sum(), leaves.u, create_graph=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        first.sum().backward()


def test_medmamba_gives_the_same_logits_and_gradients() -> None:
    draws, found = torch.Generator().manual_seed(0), []
    x = torch.randn(2, 16, 3, generator=draws)
    for name in ("triton", "reference"):
        seed_default_generators(0)
        model = models.build("medmamba", 3, 16, 2, d_model=8, n_layers=1, strides=[4, 8], scan=name)
        model.to(DEVICE).eval()
        logits = model(x.to(DEVICE))
        logits.square().sum().backward()
        found.append({"logits": logits.detach(), **{n: p.grad for n, p in model.named_parameters()}})
    assert all(torch.allclose(found[0][n], array, 1e-3, 1e-5) for n, array in found[1].items())


def test_limits_are_named() -> None:
    with pytest.raises(ModelError, match=r"d_state up to 256, got 257; use scan=torch"):
        selective_scan(on_device(random_inputs(1, 2, 1, 257)), reverse=(False, True), backend="triton")
    many = on_device(random_inputs(1, 2, 1, 1, n_directions=32))
    with pytest.raises(ModelError, match=r"up to 31 directions, got 32; use scan=torch"):
        selective_scan(many, reverse=(False,) * 32, backend="triton")


def test_is_a_proper_operator() -> None:
    inputs = on_device(random_inputs(batch=1, n_times=18, dim=4))
    leaves = [tensor.requires_grad_() for tensor in inputs]
    torch.library.opcheck(
        backend._scan,
        (*leaves, [False, True], backend.CHUNK_STEPS),
        test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
    )


class Scan(torch.nn.Module):
    """A scan of seven tensors."""

    def forward(self, *tensors: Tensor) -> Tensor:
        """Return y."""
        return selective_scan(ScanInputs(*tensors), reverse=(False, True), backend="triton")


def operators(graphs: Iterable[torch.fx.GraphModule]) -> list[str]:
    modules = [part for graph in graphs for part in graph.modules() if isinstance(part, torch.fx.GraphModule)]
    return [str(node.target) for part in modules for node in part.graph.nodes if node.op == "call_function"]


def test_export_sees_one_operator() -> None:
    inputs = on_device(random_inputs(batch=1, n_times=18, dim=4))
    names = operators([torch.export.export(Scan(), tuple(inputs)).graph_module])
    assert names.count("bench.triton_scan.default") == 1
    assert not any("exp" in name for name in names)


def test_compile_sees_one_operator() -> None:
    graphs: list[torch.fx.GraphModule] = []

    def scan(*tensors: Tensor) -> Tensor:
        return backend.scan(ScanInputs(*tensors), (False, True))

    inputs = on_device(random_inputs(batch=1, n_times=6, dim=4))
    compiled = torch.compile(scan, backend=lambda graph, _: graphs.append(graph) or graph, fullgraph=True)
    assert torch.equal(compiled(*inputs), scan(*inputs))
    assert sum("triton_scan" in name for name in operators(graphs)) == 1
