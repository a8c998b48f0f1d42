"""Crossformer against the published code, and what its fixture does not see."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bench.errors import UsageError
from bench.models.crossformer import Crossformer, SegmentMerging
from tests.models.golden import DTYPES, TOLERANCE, assert_close, assert_matches, build_from, load_fixture

CROSSFORMER_MODULES = {
    r"pre_norm": "embedding.norm",
    r"encoder\.encode_blocks\.(\d+)": r"layers.\1",
    # Ours keeps the channels on an axis of their own; see the test of it.
    r"enc_value_embedding": None,
    # The published encoder returns its input and every block's output: the recordings above once more.
    r"encoder": None,
}


def small() -> Crossformer:
    return Crossformer(n_channels=3, n_times=30, n_classes=2, d_model=64, n_layers=2, factor=3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_crossformer_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("crossformer")
    assert_matches(build_from(fixture), fixture, dtype, CROSSFORMER_MODULES)


def test_segments_match_golden() -> None:
    fixture = load_fixture("crossformer")
    model = build_from(fixture)
    assert isinstance(model, Crossformer)
    segments = model.embedding.segments(fixture.tensor("x", torch.float32))
    expected = fixture.tensor("act/enc_value_embedding", torch.float32)
    assert_close(segments.flatten(0, 1), expected, TOLERANCE[torch.float32], "segments")


def test_position_and_routers_start_standard_normal() -> None:
    torch.manual_seed(0)
    model = small()
    names = ["embedding.position", "layers.0.router", "layers.1.router"]
    drawn = torch.cat([model.get_parameter(name).flatten() for name in names])
    assert abs(drawn.mean().item()) < 0.1
    assert abs(drawn.std().item() - 1) < 0.1


def test_segments_are_embedded_without_dropout() -> None:
    model = small().train()
    x = torch.randn(2, 30, 3)
    assert torch.equal(model.embedding(x), model.embedding(x))


def test_feed_forward_has_no_inner_dropout() -> None:
    feed_forward = small().train().get_submodule("layers.0.feed_forward1")
    x = torch.randn(2, 5, 64)
    assert torch.equal(feed_forward(x), feed_forward(x))


def test_all_four_branches_are_dropped() -> None:
    def drop_all(_module: nn.Module, _inputs: Any, output: Tensor) -> Tensor:
        return torch.zeros_like(output)

    layer = small().train().get_submodule("layers.0")
    layer.get_submodule("dropout").register_forward_hook(drop_all)
    for name in ("norm1", "norm2", "norm3", "norm4"):
        layer.get_submodule(name).register_forward_hook(lambda _module, inputs, _output: inputs[0])
    x = torch.randn(2, 3, 3, 64)
    assert torch.equal(layer(x), x)


@pytest.mark.parametrize("settings", [{"n_layers": 0}, {"factor": 0}], ids=str)
def test_nothing_to_attend_with_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="n_layers and factor must be at least 1"):
        Crossformer(n_channels=3, n_times=30, n_classes=2, **settings)


def test_an_odd_segment_is_merged_with_itself() -> None:
    merge = SegmentMerging(4)
    x = torch.randn(1, 2, 3, 4)
    repeated = torch.cat([x, x[:, :, 2:]], dim=2)
    assert torch.equal(merge(x), merge(repeated))
    assert merge(x).shape == (1, 2, 2, 4)
