"""Every kind of layer counted by hand: a multiplication with its addition is two operations."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import register_parametrization

from bench import models
from bench.errors import ModelError
from bench.measure.counted_scan import scan_flops
from bench.measure.flops import Flops, count_flops
from bench.models import medmamba, registry
from bench.models.autoformer import AutoCorrelation
from bench.models.crossformer import SegmentEmbedding, SegmentMerging, TwoStageLayer
from bench.models.fedformer import FourierAttention
from bench.models.informer import SparseAttention
from bench.models.itransformer import ChannelEmbedding
from bench.models.layers.attention import Attention, FullAttention
from bench.models.layers.decomposition import RemoveTrend
from bench.models.layers.embedding import TokenEmbedding
from bench.models.layers.encoder import FeedForward
from bench.models.layers.granularity import AllChannelPatches, GranularityAttention
from bench.models.layers.head import ChannelHead, TokenHead
from bench.models.layers.mamba_block import Mamba, MambaSettings
from bench.models.layers.patching import PatchEmbedding
from bench.models.medmamba import AttentivePooling, ChannelMixing, Fusion, GatedFeedForward, Head
from bench.models.nonformer import DestationaryAttention, Projector
from bench.models.reformer import HashedAttention

L, D, F, H = 24, 32, 48, 4  # steps, width, feed-forward width, heads
E = D // H


class OnTokens(nn.Module):
    """A layer as a model of its own: ``(1, L, D)`` goes in as the window."""

    def __init__(self, layer: nn.Module, call: Callable[..., Tensor] | None = None) -> None:
        super().__init__()
        self.layer = layer
        self.call = call or (lambda layer, x: layer(x))

    def forward(self, x: Tensor) -> Tensor:
        return self.call(self.layer, x)


def count(
    make: Callable[[], nn.Module], call: Callable[..., Tensor] | None = None, shape: tuple[int, int] = (L, D)
) -> Flops:
    return count_flops(lambda: OnTokens(make(), call), *shape)


def itself(layer: nn.Module, x: Tensor) -> Tensor:
    return layer(x, x, x)


def in_heads(layer: nn.Module, x: Tensor) -> Tensor:
    q = x.unflatten(-1, (H, E)).transpose(1, 2)
    return layer(q, q, q)


def products(n: int) -> Flops:
    return Flops(products=n, transforms=0, scans=0)


def test_linear() -> None:
    assert count(lambda: nn.Linear(D, F)) == products(2 * L * D * F)


def test_feed_forward() -> None:
    assert count(lambda: FeedForward(D, F, 0.1)) == products(2 * 2 * L * D * F)


def test_gated_feed_forward() -> None:
    assert count(lambda: GatedFeedForward(D, 0.1)) == products(3 * 2 * L * D * 4 * D)


def test_token_embedding() -> None:
    assert count(lambda: TokenEmbedding(D, F)) == products(2 * L * 3 * D * F)


def test_depthwise_convolution() -> None:
    conv = lambda layer, x: layer(x.transpose(1, 2))  # noqa: E731
    make = lambda: nn.Conv1d(D, D, 4, groups=D)  # noqa: E731
    assert count(make, conv) == products(2 * (L - 3) * D * 4)


def test_patch_embedding_of_each_channel() -> None:
    """Padded by 4: 6 patches of 8 every 4."""
    make = lambda: PatchEmbedding(L, F, 0.1, patch_len=8, stride=4, padding=4)  # noqa: E731
    assert count(make) == products(2 * D * 6 * 8 * F)


def test_patches_of_all_channels() -> None:
    call = lambda layer, x: layer(x.transpose(1, 2))  # noqa: E731
    assert count(lambda: AllChannelPatches(D, 8, F), call) == products(2 * (L // 8 + 1) * 8 * D * F)


def test_full_attention() -> None:
    make = lambda: Attention(D, H, FullAttention(0.1))  # noqa: E731
    assert count(make, itself) == products(4 * 2 * L * D * D + 2 * 2 * L * L * D)


def test_attention_within_and_between_granularities() -> None:
    lengths = [16, 8]
    make = lambda: GranularityAttention(lambda: Attention(D, H, FullAttention(0.1)), lengths)  # noqa: E731
    within = sum(4 * 2 * n * D * D + 2 * 2 * n * n * D for n in lengths)
    between = 4 * 2 * 2 * D * D + 2 * 2 * 2 * 2 * D
    assert count(make, itself) == products(within + between)


def test_destationary_attention() -> None:
    """One more feature of queries and keys carries the shift; nothing is padded as for fused kernels."""

    def call(layer: nn.Module, x: Tensor) -> Tensor:
        q = x.unflatten(-1, (H, E)).transpose(1, 2)
        return layer(q, q, q, x.new_ones(1, 1), x.new_ones(1, L))

    assert count(lambda: DestationaryAttention(0.1), call) == products(2 * H * L * L * (E + 1 + E))


def test_sparse_attention() -> None:
    """Only ceil(ln L) queries attend; the sampled products are element by element and not counted."""
    active = math.ceil(math.log(L))
    make = lambda: SparseAttention(1, torch.Generator())  # noqa: E731
    assert count(make, in_heads) == products(2 * 2 * H * active * L * E)


def test_hashed_attention() -> None:
    """Three projections; 4 rounds of hashing to L/4 buckets; each query meets 8 keys in each round."""
    make = lambda: HashedAttention(D, H, torch.Generator())  # noqa: E731
    hashing = 2 * L * D * 4 * (L // 4 // 2)
    attention = 2 * 2 * H * (4 * L) * 8 * E
    assert count(make, itself) == products(3 * 2 * L * D * D + hashing + attention)


def test_auto_correlation() -> None:
    """Transforms of queries and keys, all features, and one back; 2.5 n log2(n) operations each."""
    counted = count(lambda: AutoCorrelation(3), in_heads)
    assert counted.products == 0
    assert counted.transforms == round(2 * D * 2.5 * L * math.log2(L)) // 1 + round(2.5 * L * math.log2(L))


def test_fourier_attention() -> None:
    """Two projections; complex products of 5 frequencies at 8 operations; a transform there and back."""
    kernel, index = torch.Size((H, E, E, 5)), [0, 1, 2, 4, 7]

    def call(layer: nn.Module, x: Tensor) -> Tensor:
        weights = torch.complex(x.new_ones(kernel), x.new_ones(kernel))
        return layer(x, x, x, weights, torch.tensor(index))

    counted = count(lambda: FourierAttention(D, H), call)
    assert counted.products == 2 * 2 * L * D * D + 8 * H * E * E * 5
    assert counted.transforms == 2 * round(D * 2.5 * L * math.log2(L))


@pytest.mark.parametrize(("bidirectional", "directions"), [(True, 2), (False, 1)])
def test_mamba(bidirectional: bool, directions: int) -> None:
    d_inner, rank, states = 2 * D, 2, 16
    settings = MambaSettings(bidirectional=bidirectional)
    counted = count(lambda: Mamba(D, 0.1, settings))
    in_and_out = 2 * L * D * 2 * d_inner + 2 * L * d_inner * D
    convolution = 2 * (L + 1) * d_inner * 4  # one step more than is kept
    steps = directions * (2 * L * d_inner * (rank + 2 * states) + 2 * L * rank * d_inner)
    merge = 2 * L * 2 * d_inner * d_inner if bidirectional else 0
    assert counted.products == in_and_out + convolution + steps + merge
    assert counted.scans == L * directions * d_inner * (7 * states + 3)


def test_scan_counts_what_its_definition_does() -> None:
    """One step, one feature, one state: step A, exp, times h, step u, times B, add, times C, sum, D u, add."""
    assert scan_flops(n_times=1, n_directions=1, dim=1, d_state=1) == 10


def test_channel_mixing() -> None:
    assert count(lambda: ChannelMixing(D, 0.1)) == products(2 * 2 * L * D * 2 * D)


def test_pooling() -> None:
    assert count(lambda: AttentivePooling(D)) == products(2 * L * D * (D // 4) + 2 * L * (D // 4))


def test_moving_average_is_not_counted() -> None:
    assert count(lambda: RemoveTrend(5)) == products(0)


def transformer_at(n_times: int) -> int:
    build = lambda: models.build("transformer", 19, n_times, 3)  # noqa: E731
    return count_flops(build, n_times, 19).total


def medmamba_at(n_times: int) -> int:
    build = lambda: models.build("medmamba", 19, n_times, 3)  # noqa: E731
    return count_flops(build, n_times, 19).total


def test_whole_transformer() -> None:
    n_times, width, wide = 256, 128, 256
    layer = 4 * 2 * n_times * width**2 + 2 * 2 * n_times**2 * width + 2 * 2 * n_times * width * wide
    embedding, head = 2 * n_times * 3 * 19 * width, 2 * n_times * width * 3
    assert transformer_at(n_times) == embedding + 6 * layer + head


def test_medmamba_is_linear_in_length() -> None:
    """Lengths that all strides divide: equal steps in length are equal steps in operations."""
    at = [medmamba_at(n) for n in (250, 1500, 2750)]
    assert at[2] - at[1] == at[1] - at[0]
    assert medmamba_at(3000) / medmamba_at(250) == pytest.approx(12, rel=0.01)


def test_transformer_is_quadratic_in_length() -> None:
    """The second difference is that of the attention's two products in six layers."""
    at = [transformer_at(n) for n in (1000, 2000, 3000)]
    assert at[2] - 2 * at[1] + at[0] == 6 * 2 * 2 * 128 * 2 * 1000**2


def test_counting_leaves_the_scan_as_it_was() -> None:
    model = models.build("medmamba", 3, 50, 2, d_model=8, n_layers=1).eval()
    window = torch.randn(1, 50, 3, generator=torch.Generator().manual_seed(1))
    before = model(window)
    medmamba_at(50)
    assert torch.equal(model(window), before)


def test_encoder_layers_of_torch_are_counted_without_their_fused_path() -> None:
    make = lambda: nn.TransformerEncoderLayer(D, H, F, batch_first=True)  # noqa: E731
    projections, matrix = 4 * 2 * L * D * D, 2 * 2 * L * L * D
    assert count(make) == products(projections + matrix + 2 * 2 * L * D * F)
    assert torch.backends.mha.get_fastpath_enabled()


def test_segment_embedding() -> None:
    """Crossformer: 2 segments of 12 steps of each channel."""
    assert count(lambda: SegmentEmbedding(D, L, F)) == products(2 * D * 2 * 12 * F)


def test_segment_merging() -> None:
    """Five segments of each of L channels become three."""
    call = lambda layer, x: layer(x.expand(5, -1, -1).transpose(0, 1).unsqueeze(0))  # noqa: E731
    assert count(lambda: SegmentMerging(D), call) == products(2 * L * 3 * 2 * D * D)


def test_two_stage_layer() -> None:
    """L segments of 3 channels; each segment's channels meet through one router, there and back."""
    call = lambda layer, x: layer(x.expand(3, -1, -1).unsqueeze(0))  # noqa: E731
    make = lambda: TwoStageLayer(  # noqa: E731
        lambda: Attention(D, H, FullAttention(0.1)), torch.randn(L, 1, D), F, 0.1
    )
    over_time = 3 * (4 * 2 * L * D * D + 2 * 2 * L * L * D)
    one_way = L * (2 * 2 * (1 + 3) * D * D + 2 * 2 * 3 * D)
    feed_forward = 2 * 2 * 3 * L * D * F
    assert count(make, call) == products(over_time + 2 * one_way + 2 * feed_forward)


def test_channel_embedding() -> None:
    assert count(lambda: ChannelEmbedding(L, F, 0.1)) == products(2 * D * L * F)


def test_projector() -> None:
    """A circular convolution over the channels, then two linear maps."""
    call = lambda layer, x: layer(x, x[:, :1])  # noqa: E731
    linear = 2 * (2 * D * F + F * 5)
    assert count(lambda: Projector(D, L, [F], 5), call) == products(2 * D * 3 * L + linear)


def test_patches_of_medmamba() -> None:
    """Four patches of five steps; the remainder is dropped."""
    assert count(lambda: medmamba.PatchEmbedding(D, F, 5)) == products(2 * 4 * 5 * D * F)


def test_fusion_and_head_of_medmamba() -> None:
    first = lambda layer, x: layer(x[:, 0])  # noqa: E731
    assert count(lambda: Fusion(D, F, 0.1), first) == products(2 * D * F)
    projected = lambda layer, x: layer.projection(layer.norm(x[:, 0]))  # noqa: E731
    assert count(lambda: Head(D, 3), projected) == products(2 * D * 3)


def test_heads_of_transformers() -> None:
    call = lambda layer, x: layer.projection(layer.features(x))  # noqa: E731
    assert count(lambda: TokenHead(L, D, 3, 0.1), call) == products(2 * L * D * 3)
    of_channels = lambda layer, x: call(layer, x.unsqueeze(0))  # noqa: E731
    assert count(lambda: ChannelHead(1, L, D, 3, 0.1), of_channels) == products(2 * L * D * 3)


def test_whole_medmamba() -> None:
    """Counted by hand at ADFTD's shape from what its parts take."""
    width, inner, rank, states, channels = 128, 256, 8, 16, 19
    expected = 2 * 2 * 256 * channels * 2 * channels  # mixing of channels
    for stride in (5, 10, 25):
        n = 256 // stride
        mamba = 2 * n * width * 2 * inner + 2 * n * inner * width + 2 * (n + 1) * inner * 4
        mamba += 2 * (2 * n * inner * (rank + 2 * states) + 2 * n * rank * inner) + 2 * n * 2 * inner * inner
        gated = 3 * 2 * n * width * 4 * width
        pooling = 2 * n * width * (width // 4) + 2 * n * (width // 4)
        expected += 2 * n * stride * channels * width + 4 * (mamba + gated) + pooling
    expected += 2 * 3 * width * width + 2 * width * 3
    tokens = sum(256 // stride for stride in (5, 10, 25))
    counted = count_flops(lambda: models.build("medmamba", channels, 256, 3), 256, channels)
    assert counted == Flops(products=expected, transforms=0, scans=4 * scan_flops(tokens, 2, inner, states))


def test_whole_bilstm() -> None:
    """Counted by hand: at each step four gates of the input and of the state, in two orders and two layers."""
    n_times, width = 24, 256
    gates = 2 * n_times * 4 * width * ((9 + width) + (2 * width + width)) * 2
    head = 2 * (6 * width) * 128 + 2 * 128 * 3
    assert count_flops(lambda: models.build("bilstm", 9, n_times, 3), n_times, 9) == Flops(gates + head, 0, 0)


class Shrunk(nn.Module):
    """Weights of at most one in norm, as a constraint of braindecode's convolutions has them."""

    def forward(self, weight: Tensor) -> Tensor:
        return weight / weight.norm().clamp(min=1)


def test_a_constrained_weight_counts_as_any_other() -> None:
    def constrained() -> nn.Module:
        layer = nn.Linear(D, F)
        register_parametrization(layer, "weight", Shrunk())
        return layer

    assert count(constrained) == count(lambda: nn.Linear(D, F))


@pytest.mark.parametrize("model", registry.names())
def test_every_model_can_be_counted(model: str) -> None:
    assert count_flops(lambda: models.build(model, 3, 96, 2), 96, 3).total > 0


def test_model_that_looks_at_numbers_is_refused() -> None:
    def call(_layer: nn.Module, x: Tensor) -> Tensor:
        return x * 2 if bool(x.sum() > 0) else x

    with pytest.raises(ModelError, match="must not depend on numbers"):
        count(nn.Identity, call)
