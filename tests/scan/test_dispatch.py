"""The choice of a backend, by setting, environment variable and machine; the shapes that are refused."""

import logging
import subprocess
import sys

import pytest
import torch

from bench.errors import ModelError, UsageError
from bench.scan import BACKENDS, available_backends, choose_backend, selective_scan
from bench.scan.dispatch import CHOICE
from tests.scan.cases import random_inputs

pytestmark = pytest.mark.usefixtures("forgotten_choices")


def without(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHOICE, "obstacle", lambda backend, _: "it is broken" if backend == name else None)


@pytest.mark.parametrize("name", ["reference", "torch"])
@pytest.mark.parametrize("device", ["cpu", "cuda:1", "mps"])
def test_a_name_is_taken_as_it_is(name: str, device: str) -> None:
    assert choose_backend(name, device) == name


@pytest.mark.parametrize(
    ("device", "fastest"), [("cpu", "native"), ("cuda:0", "mamba-ssm"), ("mps", "torch")]
)
def test_auto_is_the_fastest(device: str, fastest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without("nothing", monkeypatch)
    assert choose_backend("auto", torch.device(device)) == fastest


def test_auto_falls_back_to_torch_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    without("native", monkeypatch)
    with caplog.at_level(logging.WARNING, "bench.backends"):
        assert [choose_backend("auto", "cpu") for _ in range(3)] == ["torch"] * 3
    assert [record.message for record in caplog.records] == [
        "scan: native is not available on cpu (it is broken); using the slower torch backend"
    ]


def test_a_backend_that_cannot_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    without("native", monkeypatch)
    with pytest.raises(
        ModelError, match=r"scan=native cannot run on cpu: it is broken\. Use scan=auto or scan=torch"
    ):
        choose_backend("native", "cpu")


def test_variable_decides_for_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_SCAN", "reference")
    assert choose_backend("auto", "cpu") == "reference"
    assert choose_backend("torch", "cpu") == "torch"


def test_variable_may_say_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    without("nothing", monkeypatch)
    monkeypatch.setenv("BENCH_SCAN", "auto")
    assert choose_backend("auto", "cpu") == "native"


def test_variable_is_named_when_it_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_SCAN", "mamba-ssm")
    with pytest.raises(ModelError, match=r"BENCH_SCAN=mamba-ssm cannot run on cpu: .*CUDA devices only"):
        choose_backend("auto", "cpu")


def test_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown scan backend 'natve'\. Did you mean 'native'\?"):
        choose_backend("natve", "cpu")


def test_available_backends_are_those_without_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    without("mamba-ssm", monkeypatch)
    assert available_backends() == [name for name in BACKENDS if name != "mamba-ssm"]


def test_native_is_for_cpus_only() -> None:
    assert "native" not in available_backends("cuda")


@pytest.mark.parametrize("field", ["u", "B", "C", "D", "delta_bias"])
def test_wrong_shape_is_named(field: str) -> None:
    inputs = random_inputs()
    wrong = inputs._replace(**{field: getattr(inputs, field)[..., :-1]})
    with pytest.raises(ValueError, match=rf"scan: {field} must have shape \(.*\) to fit delta and A, got"):
        selective_scan(wrong, reverse=(False, True), backend="torch")


def test_wrong_number_of_axes_is_named() -> None:
    inputs = random_inputs()
    with pytest.raises(ValueError, match=r"delta must be \(batch, n_times, n_directions, dim\)"):
        selective_scan(inputs._replace(delta=inputs.delta[0]), reverse=(False, True), backend="torch")


def test_wrong_number_of_orders_is_refused() -> None:
    with pytest.raises(ValueError, match="reverse needs one entry for each of 2 directions, got 1"):
        selective_scan(random_inputs(), reverse=(False,), backend="torch")


def test_package_imports_without_torch() -> None:
    code = "import sys, bench.scan; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
