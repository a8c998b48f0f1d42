"""The choice of attention's backend, the shapes that are refused, and how the setting travels."""

import subprocess
import sys

import pytest
import torch

from bench.attention import BACKENDS, CHOICE, attention
from bench.dropout import Dropped
from bench.errors import ModelError, UsageError
from bench.settings import preset, resolve
from tests.attention.cases import random_inputs

WHOLE = Dropped.at(0.0, 0)


@pytest.fixture(autouse=True)
def forgotten_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHOICE.variable, raising=False)
    monkeypatch.setattr(CHOICE, "_fastest", {})
    monkeypatch.setattr(CHOICE, "_obstacles", {})


@pytest.mark.parametrize(("device", "fastest"), [("cpu", "native"), ("cuda:0", "torch")])
def test_auto_is_the_fastest(device: str, fastest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHOICE, "obstacle", lambda *_: None)
    assert CHOICE.choose("auto", device) == fastest


def test_variable_decides_for_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_ATTENTION", "torch")
    assert CHOICE.choose("auto", "cpu") == "torch"
    assert CHOICE.choose("reference", "cpu") == "reference"


def test_a_backend_that_cannot_run_is_refused() -> None:
    with pytest.raises(ModelError, match=r"attention=native cannot run on cuda: .*Use attention=auto"):
        CHOICE.choose("native", "cuda")


def test_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown attention backend 'natve'\. Did you mean 'native'\?"):
        CHOICE.choose("natve", "cpu")


def test_setting_is_execution_and_no_part_of_the_hyperparameters() -> None:
    settings = resolve(
        "patchtst",
        "adftd",
        41,
        recipe_name="published",
        preset=preset("paper"),
        assignments={"attention": "torch"},
    )
    assert settings.execution == {"attention": "torch"}
    assert "attention" not in settings.hyperparameters


def test_unknown_setting_is_refused() -> None:
    with pytest.raises(UsageError, match=f"'fast'.*{BACKENDS[0]}"):
        resolve(
            "patchtst",
            "adftd",
            41,
            recipe_name="published",
            preset=preset("paper"),
            assignments={"attention": "fast"},
        )


@pytest.mark.parametrize("wrong", [{"k": 0}, {"v": 1}, {"q": 3}])
def test_shapes_that_do_not_fit_are_refused(wrong: dict[str, int]) -> None:
    inputs = random_inputs()
    ((name, axis),) = wrong.items()
    given = {"q": inputs.q, "k": inputs.k, "v": inputs.v}
    given[name] = given[name].narrow(axis, 0, 1)
    with pytest.raises(ValueError, match="attention: k must have q's batch, heads and width"):
        attention(given["q"], given["k"], given["v"], scale=1.0, dropped=WHOLE)


def test_wrong_number_of_axes_is_refused() -> None:
    q, k, v, _ = random_inputs()
    with pytest.raises(ValueError, match=r"must be \(batch, heads, tokens, width\)"):
        attention(q[0], k[0], v[0], scale=1.0, dropped=WHOLE)


def test_package_imports_without_torch() -> None:
    code = "import sys, bench.attention, bench.dropout; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_default_type_is_that_of_the_queries() -> None:
    q, k, v, _ = random_inputs()
    out = attention(q.to(torch.bfloat16), k, v, scale=1.0, dropped=WHOLE)
    assert out.dtype == torch.bfloat16
