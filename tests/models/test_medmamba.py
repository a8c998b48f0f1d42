"""MedMamba against the published code, and what is special about its parts."""

import copy
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import bench.models
from bench.errors import UsageError
from bench.measure.measurement import task_of
from bench.models.layers import mamba_block as mamba
from bench.models.layers.mamba_block import Mamba, MambaSettings
from bench.models.medmamba import Block, DropAlong, MedMamba
from bench.models.registry import hyperparameters
from bench.scan import ScanInputs, selective_scan
from tests.models.golden import (
    DTYPES,
    TOLERANCE,
    Fixture,
    assert_close,
    assert_matches,
    assert_matches_in_training,
    build_from,
    load_fixture,
)
from tests.scan.cases import BACKENDS, FAST

FIXTURES = ["full", "single_scale", "unidirectional", "no_channel_mix", "merge_add"]

MODULES: dict[str, str | None] = {
    r"channel_mix": "channel_mixing",
    r"multi_res_embed": None,  # one module of theirs embeds all scales, see test_embeds_patches
    r"scale_layers\.(\d+)\.(\d+)\.0": r"scales.\1.blocks.\2.mamba.inner",
    r"scale_layers\.(\d+)\.(\d+)\.2": r"scales.\1.blocks.\2.feed_forward.inner",
    r"final_norms\.(\d+)": r"scales.\1.norm",
    r"pools\.(\d+)": r"scales.\1.pool",
    r"fusion": "fusion",
}

SMALL: dict[str, Any] = {"n_channels": 3, "n_times": 64, "n_classes": 4, "d_model": 32, "n_layers": 2}


def small(**overrides: Any) -> MedMamba:
    torch.manual_seed(0)
    return MedMamba(**{**SMALL, **overrides})


def published(name: str) -> tuple[MedMamba, Fixture]:
    fixture = load_fixture(f"medmamba_{name}")
    if name == "unidirectional":  # stored by the published code, never used, not built here
        used = {key: array for key, array in fixture.arrays.items() if "merge_proj" not in key}
        fixture = replace(fixture, arrays=used)
    model = build_from(fixture)
    assert isinstance(model, MedMamba)
    return model, fixture


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FIXTURES)
def test_equals_published_code(name: str, dtype: torch.dtype) -> None:
    assert_matches(*published(name), dtype, MODULES)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FIXTURES)
def test_equals_published_code_in_training(name: str, dtype: torch.dtype) -> None:
    assert_matches_in_training(*published(name), dtype)


@pytest.mark.parametrize("scale", [0, 1, 2])
def test_embeds_patches(scale: int) -> None:
    model, fixture = published("full")
    model.double()
    x = model.channel_mixing(fixture.tensor("x", torch.float64))
    tokens = model.scales[scale].get_submodule("embedding")(x)
    expected = fixture.tensor(f"act/multi_res_embed[{scale}]", torch.float64)
    assert_close(tokens, expected, TOLERANCE[torch.float32], "patches after batch norm and GELU")


@pytest.mark.parametrize("backend", BACKENDS)
def test_backends_give_the_same_logits(backend: str) -> None:
    x = torch.randn(2, 64, 3, generator=torch.Generator().manual_seed(0))
    expected = small(scan="reference").double().eval()(x.double())
    assert_close(small(scan=backend).eval()(x), expected, TOLERANCE[torch.float32], backend)


def test_scan_backend_is_the_resolved_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_SCAN", "reference")
    assert small().scan_backend == "reference"
    assert small(scan="torch").scan_backend == "torch"


def test_scan_stays_in_float32_under_autocast(monkeypatch: pytest.MonkeyPatch) -> None:
    rounded: list[float] = []

    def compared(inputs: ScanInputs, **settings: Any) -> Tensor:
        y = selective_scan(inputs, **settings)
        wide = ScanInputs(*(tensor.double() for tensor in inputs))
        exact = selective_scan(wide, reverse=settings["reverse"], backend="reference")
        rounded.append(((y - exact).abs() / exact.abs().clamp(min=1e-3)).max().item())
        return y

    monkeypatch.setattr(mamba, "selective_scan", compared)
    with torch.autocast("cpu", torch.bfloat16):
        logits = small().eval()(torch.randn(2, 64, 3))
    assert logits.isfinite().all()
    # One rounding of the result to bfloat16, none in between.
    assert max(rounded) <= torch.finfo(torch.bfloat16).eps


def test_forward_classifies_the_features() -> None:
    model, x = small().eval(), torch.randn(2, 64, 3)
    features = model.features(x)
    assert features.shape == (2, 32)
    assert torch.equal(model.head.projection(features), model(x))


def test_decay_rates_and_skips_have_no_weight_decay() -> None:
    model = small()
    exempt = model.no_weight_decay()
    assert len(exempt) == 2 * 3 * 2  # A_logs and D, scales, layers
    assert exempt <= {name for name, _ in model.named_parameters()}
    assert {name.rpartition(".")[2] for name in exempt} == {"A_logs", "D"}


def test_unidirectional_layer_sees_two_steps_ahead() -> None:
    layer = Mamba(32, 0.0, MambaSettings(bidirectional=False)).eval()
    x = torch.randn(1, 10, 32, requires_grad=True)
    (gradient,) = torch.autograd.grad(layer(x)[0, 4].square().sum(), x)
    assert (gradient[0].abs().sum(1) > 0).tolist() == [True] * 7 + [False] * 3


def test_bidirectional_layer_sees_everything() -> None:
    layer = Mamba(32, 0.0, MambaSettings()).eval()
    x = torch.randn(1, 10, 32, requires_grad=True)
    (gradient,) = torch.autograd.grad(layer(x)[0, 4].square().sum(), x)
    assert (gradient[0].abs().sum(1) > 0).all()


@pytest.mark.parametrize(("n_layers", "rates"), [(1, [0.0]), (3, [0.0, 0.15, 0.3])])
def test_drop_path_rises_by_layer(n_layers: int, rates: list[float]) -> None:
    model = small(n_layers=n_layers, drop_path=0.3)
    blocks = [module for module in model.modules() if isinstance(module, Block)]
    for branch in ("mamba", "feed_forward"):
        found = [block.get_submodule(f"{branch}.drop_path").rate for block in blocks]
        assert found == pytest.approx(rates * 3)


def test_channel_dropout_leaves_out_whole_channels() -> None:
    torch.manual_seed(0)
    dropped = DropAlong(0.25, kept_axis=2)(torch.ones(500, 6, 4))
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / 0.75])
    assert dropped.count_nonzero().item() / dropped.numel() == pytest.approx(0.75, abs=0.04)


def test_drop_path_leaves_out_whole_samples() -> None:
    torch.manual_seed(0)
    dropped = DropAlong(0.25)(torch.ones(2000, 3, 2))
    assert torch.equal(dropped, dropped[:, :1, :1].expand_as(dropped))
    assert dropped[:, 0, 0].count_nonzero().item() / 2000 == pytest.approx(0.75, abs=0.04)


def test_nothing_is_left_out_in_evaluation() -> None:
    x = torch.randn(4, 3, 2)
    assert DropAlong(0.9).eval()(x) is x


def test_a_remainder_at_the_end_is_dropped() -> None:
    model, x = small(strides=(25,), channel_mixing=False).eval(), torch.randn(2, 64, 3)
    changed = x.clone()
    changed[:, 50:] += 1
    assert torch.equal(model(x), model(changed))


def test_scan_parameters_start_as_published() -> None:
    layer = Mamba(128, 0.0, MambaSettings())
    steps = F.softplus(layer.dt_bias)
    assert torch.equal(layer.A_logs, torch.arange(1, 17).log().expand(512, 16))
    assert torch.equal(layer.D, torch.ones(512))
    assert 0.99e-3 <= steps.min() < 2e-3
    assert 0.05 < steps.max() <= 0.101
    assert steps.log().mean().item() == pytest.approx(math.log(1e-2), abs=0.3)
    assert layer.x_proj.std().item() == pytest.approx(256**-0.5, rel=0.02)
    assert layer.dt_proj.abs().max().item() == pytest.approx(8**-0.5, rel=0.01)


def test_mean_merge_has_the_published_number_of_parameters() -> None:
    model = bench.models.build("medmamba", 19, 256, 3, merge="add")
    assert sum(parameter.numel() for parameter in model.parameters()) == 4_147_017


def test_copies_of_a_used_model_agree() -> None:
    model, x = small().eval(), torch.randn(2, 64, 3)
    before = model(x)
    assert torch.equal(copy.deepcopy(model)(x), before)


@pytest.mark.parametrize("strides", [(), (0,), (5, 65)])
def test_impossible_strides_are_refused(strides: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="strides must be between 1 and n_times=64, got strides="):
        small(strides=strides)


def test_unknown_merge_is_refused() -> None:
    with pytest.raises(UsageError, match="merge must be one of concat, add, got merge=sum"):
        small(merge="sum")


@pytest.mark.parametrize("backend", FAST)
def test_the_papers_batch_of_512_keeps_less_than_half_of_6_gib_for_its_gradient(backend: str) -> None:
    shape, batch = task_of("uci-har"), 4
    settings = {**hyperparameters("medmamba"), "scan": backend}
    model = bench.models.build("medmamba", shape.n_channels, shape.n_times, shape.n_classes, **settings)
    kept = dict[int, int]()

    def weigh(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(weigh, lambda tensor: tensor):
        logits = model.train()(torch.zeros(batch, shape.n_times, shape.n_channels))
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    of_windows = sum(n_bytes for place, n_bytes in kept.items() if place not in weights)
    assert logits.requires_grad
    # The plain loop keeps 15.7 GiB. The other half is for what the backward pass makes.
    assert 512 * of_windows / batch < 3 * 2**30
