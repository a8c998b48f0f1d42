"""The post-norm encoder and the heads: the default initialisation, and where dropout is."""

import math

import pytest
import torch
from torch import Tensor, nn

from bench.models.layers.encoder import Encoder, EncoderLayer, FeedForward
from bench.models.layers.head import ChannelHead, TokenHead


class Zero(nn.Module):
    """Attention that adds nothing."""

    def forward(self, queries: Tensor, _keys: Tensor, _values: Tensor) -> Tensor:
        return torch.zeros_like(queries)


class Same(nn.Module):
    """Attention that returns its queries."""

    def forward(self, queries: Tensor, _keys: Tensor, _values: Tensor) -> Tensor:
        return queries


def test_feed_forward_starts_like_pointwise_convolutions() -> None:
    # Default convolution initialisation: weights and biases uniform within one over the root of the inputs.
    torch.manual_seed(0)
    feed_forward = FeedForward(64, 256, 0.1)
    for linear in (feed_forward.up, feed_forward.down):
        bound = 1 / math.sqrt(linear.in_features)
        assert linear.weight.abs().max().item() == pytest.approx(bound, rel=0.01)
        assert linear.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert linear.bias.abs().max().item() <= bound


def test_feed_forward_drops_after_both_maps() -> None:
    kept = 2**-10
    feed_forward = FeedForward(16, 32, 1 - kept).train()
    # The last dropout zeroes nearly all of the output; the first leaves nearly only the second map's bias in the rest.
    output = feed_forward(torch.randn(5000, 16)) * kept
    zero = output == 0
    assert zero.float().mean().item() > 0.95
    expected = feed_forward.down.bias.expand_as(output)[~zero]
    assert (output[~zero] - expected).abs().median().item() < 1e-6


def test_layer_drops_the_output_of_attention() -> None:
    layer = EncoderLayer(Same(), 32, 8, 0.5).train()
    seen: list[Tensor] = []
    layer.norm1.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0]))
    layer(torch.ones(2, 50, 32))
    # x + dropout(x) is 1 or 3 where x is 1.
    assert set(seen[0].unique().tolist()) == {1.0, 3.0}
    assert (seen[0] == 3).float().mean().item() == pytest.approx(0.5, abs=0.05)


def test_layer_is_post_norm() -> None:
    layer = EncoderLayer(Zero(), 32, 8, 0.0)
    output = layer(torch.randn(2, 5, 32) * 100)
    torch.testing.assert_close(output.mean(-1), torch.zeros(2, 5), atol=1e-5, rtol=0)
    torch.testing.assert_close(output.var(-1, correction=0), torch.ones(2, 5), atol=1e-3, rtol=0)


def test_layers_start_from_different_weights() -> None:
    encoder = Encoder(Zero, 2, 8, 8, 0.0)
    first, second = encoder.layers
    assert isinstance(first, EncoderLayer)
    assert isinstance(second, EncoderLayer)
    assert not torch.equal(first.feed_forward.up.weight, second.feed_forward.up.weight)


def test_token_head_is_token_major_after_gelu_and_dropout() -> None:
    head = TokenHead(2, 3, 4, 0.5)
    tokens = torch.arange(1.0, 7.0).view(1, 2, 3)
    assert torch.equal(head.eval().features(tokens), nn.functional.gelu(tokens).view(1, 6))
    dropped = TokenHead(100, 64, 2, 0.5).train().features(torch.ones(1, 100, 64))
    assert (dropped == 0).float().mean().item() == pytest.approx(0.5, abs=0.05)


def test_channel_head_is_feature_major_without_gelu_after_dropout() -> None:
    head = ChannelHead(2, 3, 2, 4, 0.5)
    tokens = torch.arange(12.0).view(1, 2, 3, 2) - 6
    assert head.eval().features(tokens).tolist() == [[-6, -4, -2, -5, -3, -1, 0, 2, 4, 1, 3, 5]]
    dropped = ChannelHead(2, 50, 64, 2, 0.5).train().features(torch.ones(1, 2, 50, 64))
    assert (dropped == 0).float().mean().item() == pytest.approx(0.5, abs=0.05)
