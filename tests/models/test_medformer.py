"""Both versions of Medformer against the published code, and what the fixtures do not see."""

import math
import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.medformer import Medformer
from bench.models.medformer_latest import MedformerLatest
from tests.models.golden import (
    DTYPES,
    MODULES,
    TOLERANCE,
    Fixture,
    assert_close,
    assert_matches,
    build_from,
    load_fixture,
)

# Ours joins the granularities' tokens in one sequence; the recordings are lists. See the tests of them.
MEDFORMER_MODULES = {**MODULES, r"enc_embedding": None, r"encoder\.attn_layers\.(\d+)": None}
LATEST_MODULES = {**MEDFORMER_MODULES, "encoder": None}

VERSIONS = pytest.mark.parametrize(
    ("fixture_name", "name"), [("medformer_paper", "medformer"), ("medformer_head", "medformer-latest")]
)


def output_of(model: nn.Module, module: str, x: Tensor) -> Tensor:
    """Run the model and return what one of its modules put out."""
    seen: list[Tensor] = []

    def keep(_module: nn.Module, _inputs: Any, output: Tensor) -> None:
        seen.append(output)

    hook = model.get_submodule(module).register_forward_hook(keep)
    model(x)
    hook.remove()
    return seen[0]


def recorded_tokens(fixture: Fixture, module: str) -> Tensor:
    """Join the recorded tokens of all granularities."""
    keys = [key for key in fixture.arrays if re.fullmatch(rf"act/{re.escape(module)}\[\d+\]", key)]
    return torch.cat([fixture.tensor(key, torch.float32) for key in sorted(keys)], dim=1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_medformer_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("medformer_paper")
    assert_matches(build_from(fixture, "medformer"), fixture, dtype, MEDFORMER_MODULES)


@pytest.mark.parametrize("dtype", DTYPES)
def test_medformer_latest_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("medformer_head")
    assert_matches(build_from(fixture, "medformer-latest"), fixture, dtype, LATEST_MODULES)


@VERSIONS
@pytest.mark.parametrize(
    ("published", "ours"),
    [
        ("enc_embedding", "embedding"),
        ("encoder.attn_layers.0", "encoder.layers.0"),
        ("encoder.attn_layers.1", "encoder.layers.1"),
    ],
)
def test_tokens_match_golden(fixture_name: str, name: str, published: str, ours: str) -> None:
    fixture = load_fixture(fixture_name)
    tokens = output_of(build_from(fixture, name), ours, fixture.tensor("x", torch.float32))
    assert_close(tokens, recorded_tokens(fixture, published), TOLERANCE[torch.float32], ours)


def test_last_tokens_match_golden() -> None:
    fixture = load_fixture("medformer_head")
    model = build_from(fixture, "medformer-latest")
    assert isinstance(model, MedformerLatest)
    encoded = output_of(model, "encoder", fixture.tensor("x", torch.float32))[:, model.embedding.last]
    assert_close(
        encoded, fixture.tensor("act/encoder", torch.float32), TOLERANCE[torch.float32], "last tokens"
    )


def small(cls: type[Medformer] | type[MedformerLatest], **settings: Any) -> Any:
    torch.manual_seed(0)
    return cls(n_channels=3, n_times=24, n_classes=2, d_model=16, n_heads=2, n_layers=1, **settings)


def test_patch_maps_start_normal_and_tags_standard_normal() -> None:
    torch.manual_seed(0)
    model = Medformer(n_channels=5, n_times=24, n_classes=2, d_model=512, n_layers=1, patch_lengths=(8,))
    weight = model.get_parameter("embedding.patches.0.weight")
    tag = model.get_parameter("embedding.tags.0")
    assert weight.std().item() == pytest.approx(math.sqrt(2 / (5 * 8)), rel=0.03)
    assert abs(weight.mean().item()) < 0.01
    assert tag.std().item() == pytest.approx(1, rel=0.1)


def test_one_granularity_has_no_inter_attention() -> None:
    assert small(Medformer, patch_lengths=(4,)).encoder.layers[0].attention.inter is None


@pytest.mark.parametrize("cls", [Medformer, MedformerLatest])
def test_equal_patch_lengths_are_separate_granularities(cls: type[Medformer] | type[MedformerLatest]) -> None:
    attention = small(cls, patch_lengths=(4, 4)).encoder.layers[0].attention
    assert len(attention.intra) == 2
    assert not torch.equal(attention.intra[0].query.weight, attention.intra[1].query.weight)


@pytest.mark.parametrize("cls", [Medformer, MedformerLatest])
def test_embedding_has_no_dropout(cls: type[Medformer] | type[MedformerLatest]) -> None:
    model = small(cls, augmentations=("none",), dropout=0.5).train()
    x = torch.randn(2, 24, 3)
    assert torch.equal(output_of(model, "embedding", x), output_of(model, "embedding", x))


@pytest.mark.parametrize("cls", [Medformer, MedformerLatest])
def test_augmentation_changes_training_only(cls: type[Medformer] | type[MedformerLatest]) -> None:
    model = small(cls, augmentations=("jitter",), dropout=0.0)
    x = torch.randn(2, 24, 3)
    assert not torch.equal(model.train()(x), model.eval()(x))
    assert torch.equal(model(x), model(x))


@pytest.mark.parametrize("cls", [Medformer, MedformerLatest])
def test_each_granularity_draws_its_own_augmentation(cls: type[Medformer] | type[MedformerLatest]) -> None:
    model = small(cls, augmentations=("none", "scale"), dropout=0.0, patch_lengths=(4,) * 8).train()
    for one in model.embedding.patches[1:]:
        one.weight.data.copy_(model.embedding.patches[0].weight)
    for tag in model.embedding.tags:
        tag.data.zero_()
    model.draws.manual_seed(1)
    tokens = output_of(model, "embedding", torch.randn(2, 24, 3)).split(model.embedding.lengths, dim=1)
    n_equal = sum(torch.equal(one, other) for i, one in enumerate(tokens) for other in tokens[:i])
    assert 0 < n_equal < 28


def test_paper_version_augments_patch_embeddings() -> None:
    # Masking the whole last axis leaves only tags and positions.
    model = small(Medformer, augmentations=("mask1",)).train()
    a, b = (output_of(model, "embedding", torch.randn(1, 24, 3)) for _ in range(2))
    assert torch.equal(a, b)


def test_latest_version_augments_the_series_before_the_channel_table() -> None:
    model = small(MedformerLatest, augmentations=("mask1",)).train()
    masked = output_of(model, "embedding", torch.randn(1, 24, 3))
    expected = output_of(model.eval(), "embedding", torch.zeros(1, 24, 3))
    torch.testing.assert_close(masked, expected)


def test_latest_version_refuses_odd_lengths() -> None:
    with pytest.raises(UsageError, match="needs an even number of steps, got n_times=25"):
        MedformerLatest(n_channels=1, n_times=25, n_classes=2)


def test_latest_version_refuses_shuffle() -> None:
    with pytest.raises(UsageError, match="unknown augmentation 'shuffle'"):
        small(MedformerLatest, augmentations=("shuffle",))


@pytest.mark.parametrize("lengths", [(), (4, 0)])
def test_impossible_patch_lengths_are_refused(lengths: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="patch_lengths must be positive"):
        small(Medformer, patch_lengths=lengths)
