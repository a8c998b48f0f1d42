"""Which scan a GPU gets, with stand-ins for the packages and the CPU in place of the GPU. Untested on GPU."""

import logging
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from torch import Tensor

from bench.cli import main
from bench.errors import ModelError
from bench.measure import environment
from bench.scan import ScanInputs, available_backends, choose_backend, hub, obstacles, reference, self_test
from bench.scan.triton import backend as triton_backend
from tests.scan.test_mamba_ssm import stand_in

pytestmark = pytest.mark.usefixtures("forgotten_choices", "cpu_for_gpu")

Kernel = Callable[..., Tensor]
on_a_device = self_test.failure


class _Spoiled(torch.autograd.Function):
    """The identity, whose gradient is wrong."""

    @staticmethod
    def forward(ctx: Any, a: Tensor) -> Tensor:
        return a.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return 1.01 * grads[0]


def wrong_at_odd_lengths(u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, **rest: Any) -> Tensor:
    """Scan right, with another gradient of A where the length is odd."""
    return stand_in(u, delta, _Spoiled.apply(a) if u.shape[2] % 2 else a, b, c, **rest)


def raising(*_: Any, **__: Any) -> Tensor:
    raise RuntimeError("no kernel image is available\nand much more")


@pytest.fixture
def cpu_for_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have self-tests run on the CPU, and the Triton kernels be the plain loop."""
    monkeypatch.setattr(self_test, "failure", lambda scan, _: on_a_device(scan, "cpu"))
    monkeypatch.setattr(triton_backend, "scan", reference.scan)
    monkeypatch.setattr(triton_backend, "obstacle", lambda _: None)
    monkeypatch.setattr(hub, "_kernel", hub.cache(hub._kernel.__wrapped__))


def install(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    """Put a stand-in of a module, and of its parents, where it is found."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        module = ModuleType(".".join(parts[:end]))
        module.__spec__ = ModuleSpec(module.__name__, None)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for member, value in members.items():
        setattr(sys.modules[name], member, value)


def install_mamba_ssm(monkeypatch: pytest.MonkeyPatch, kernel: Kernel) -> None:
    install(monkeypatch, "mamba_ssm.ops.selective_scan_interface", selective_scan_fn=kernel)


def install_hub(monkeypatch: pytest.MonkeyPatch, kernel: Kernel) -> list[str]:
    """Put a stand-in of the package kernels in place; return the list of what is asked of it."""
    asked: list[str] = []

    def get_kernel(repository: str, *, revision: str) -> ModuleType:
        asked.append(f"{repository} {revision}")
        module = ModuleType("downloaded")
        module.selective_scan_fn = kernel  # type: ignore[attr-defined]
        return module

    install(monkeypatch, "kernels", get_kernel=get_kernel)
    return asked


def test_mamba_ssm_comes_first_where_it_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    install_mamba_ssm(monkeypatch, stand_in)
    assert choose_backend("auto", "cuda") == "mamba-ssm"


def test_triton_comes_first_where_nothing_is_installed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "bench.scan"):
        assert choose_backend("auto", "cuda:1") == "triton"
    assert not caplog.records


def test_mamba_ssm_is_passed_over_where_its_gradient_is_wrong(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    install_mamba_ssm(monkeypatch, wrong_at_odd_lengths)
    with caplog.at_level(logging.WARNING, "bench.scan"):
        assert [choose_backend("auto", "cuda") for _ in range(2)] == ["triton"] * 2
    (record,) = caplog.records
    assert "mamba-ssm fails its self-test on cuda (51 steps: the gradient of A is off by" in record.message


def test_a_kernel_that_raises_is_passed_over_with_its_first_line(monkeypatch: pytest.MonkeyPatch) -> None:
    install_mamba_ssm(monkeypatch, raising)
    wanted = r"self-test: 51 steps: RuntimeError: no kernel image is available\. Use scan=auto"
    with pytest.raises(ModelError, match=wanted):
        choose_backend("mamba-ssm", "cuda")


def test_torch_is_last_and_says_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(triton_backend, "obstacle", lambda _: "no triton here")
    with caplog.at_level(logging.WARNING, "bench.scan"):
        assert choose_backend("auto", "cuda") == "torch"
    (record,) = caplog.records
    assert "triton is not available on cuda (no triton here); using the slower torch" in record.message


def test_the_hub_is_never_asked_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = install_hub(monkeypatch, stand_in)
    assert choose_backend("auto", "cuda") == "triton"
    assert "set BENCH_SCAN=hub" in obstacles("cuda")["hub"]
    with pytest.raises(ModelError, match="set BENCH_SCAN=hub to allow that"):
        choose_backend("hub", "cuda")
    assert asked == []


def test_the_hub_is_taken_where_the_user_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = install_hub(monkeypatch, stand_in)
    monkeypatch.setenv("BENCH_SCAN", "hub")
    assert choose_backend("auto", "cuda") == "hub"
    assert asked == ["kernels-community/mamba-ssm main"]


def test_a_wrong_kernel_of_the_hub_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install_hub(monkeypatch, wrong_at_odd_lengths)
    monkeypatch.setenv("BENCH_SCAN", "hub")
    with pytest.raises(ModelError, match=r"BENCH_SCAN=hub cannot run on cuda: it fails its self-test"):
        choose_backend("auto", "cuda")


def test_a_download_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: Any, **__: Any) -> ModuleType:
        raise OSError("no route to host")

    install(monkeypatch, "kernels", get_kernel=offline)
    monkeypatch.setenv("BENCH_SCAN", "hub")
    assert "kernels-community/mamba-ssm cannot be loaded: no route to host" in obstacles("cuda")["hub"]


def test_the_self_test_leaves_the_default_generator_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_rng_state()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        assert on_a_device(reference.scan, "cpu") is None
    assert torch.equal(torch.get_rng_state(), before)


def test_the_self_test_sees_a_nan() -> None:
    def spoiled(inputs: ScanInputs, reverse: Any) -> Tensor:
        return reference.scan(inputs, reverse) * torch.nan

    assert "y is off by nan" in str(on_a_device(spoiled, "cpu"))


def test_the_doctor_says_which_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    install_mamba_ssm(monkeypatch, wrong_at_odd_lengths)
    monkeypatch.setattr(environment, "resolve_device", lambda _: "cuda")
    monkeypatch.setattr(environment, "_gpu", lambda: ("a card", "driver"))
    said = CliRunner().invoke(main, ["doctor"]).output
    assert (
        "scan backend: triton (first that runs here of mamba-ssm, triton, torch; "
        "reference, torch, triton can run)" in said
    )
    assert "  not mamba-ssm: it fails its self-test: 51 steps: the gradient of A is off by" in said
    assert "  not native: the native kernel runs on CPUs only" in said
    assert "  not hub: the package kernels is not installed, see docs/cuda.md" in said


def test_the_doctor_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_SCAN", "reference")
    said = CliRunner().invoke(main, ["doctor"]).output
    assert "scan backend: reference (BENCH_SCAN=reference; reference, torch" in said


def test_a_cpu_offers_no_gpu_scan() -> None:
    assert {"mamba-ssm", "hub"}.isdisjoint(available_backends("cpu"))
