"""Reformer against the published code, and its hashing."""

import copy

import numpy as np
import pytest
import torch
from reformer_pytorch import LSHAttention

from bench.errors import UsageError
from bench.models.reformer import DrawnHashAttention, Reformer
from tests.models.golden import DTYPES, assert_matches, build_from, load_fixture, replay_draws
from tests.models.recording import dropout_shapes, generators_of, record_draws, series


def small(**settings: int) -> Reformer:
    return Reformer(
        **{"n_channels": 2, "n_times": 20, "n_classes": 3, "d_model": 16, "n_layers": 3, **settings}
    )


def hashing(seed: int = 0) -> DrawnHashAttention:
    return DrawnHashAttention(torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dtype", DTYPES)
def test_reformer_matches_golden(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = load_fixture("reformer")
    replay_draws(monkeypatch, fixture)
    assert_matches(build_from(fixture), fixture, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layer", [0, 1])
def test_buckets_match_golden(layer: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = load_fixture("reformer")
    replay_draws(monkeypatch, fixture)
    model = build_from(fixture).to(dtype)
    seen: list[torch.Tensor] = []
    mechanism = model.get_submodule(f"encoder.layers.{layer}.attention.mechanism")
    mechanism.register_forward_hook(lambda _module, _inputs, output: seen.append(output[2]))
    model(fixture.tensor("x", dtype))
    assert np.array_equal(seen[0].numpy(), fixture.arrays[f"aux/buckets_{layer}"])


@pytest.mark.parametrize("training", [False, True])
def test_one_draw_a_layer_in_layer_order(training: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small().train(training)
    seeded = torch.Generator().manual_seed(0)
    # 20 steps are padded to 24, which are 6 buckets: 3 directions and their opposites.
    expected = [torch.randn((1, 2, 4, 3), generator=seeded) for _ in range(3)]
    draws = record_draws(monkeypatch, "randn")
    model(torch.zeros(2, 20, 2))
    assert all(draw.generator is model.draws for draw in draws)
    torch.testing.assert_close([draw.drawn for draw in draws], expected, rtol=0, atol=0)


@pytest.mark.parametrize(("n_times", "directions"), [(1, 1), (8, 1), (9, 2), (40, 5), (41, 6), (48, 6)])
def test_padding_to_pairs_of_buckets(n_times: int, directions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small(n_times=n_times, n_layers=1).eval()
    draws = record_draws(monkeypatch, "randn")
    logits = model(torch.zeros(1, n_times, 2))
    assert draws[0].drawn.shape[-1] == directions
    assert logits.shape == (1, 3)


def test_hashes_equal_the_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    vecs = series(6, 32, 5, dtype=torch.float64)
    ours = hashing().hash_vectors(8, vecs)
    rotations = torch.randn((1, 5, 4, 4), generator=torch.Generator().manual_seed(0)).double()
    monkeypatch.setattr(torch, "randn", lambda *_args, **_settings: rotations)
    theirs = LSHAttention(bucket_size=4, n_hashes=4).hash_vectors(8, vecs)
    assert torch.equal(ours, theirs)


def test_hashing_in_slices_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    vecs = series(6, 32, 5)
    whole = hashing().hash_vectors(8, vecs)
    monkeypatch.setattr(DrawnHashAttention, "MAX_PRODUCTS", 2 * 32 * 4 * 4)
    assert torch.equal(hashing().hash_vectors(8, vecs), whole)


def test_zero_rows_go_to_the_first_bucket_of_each_round() -> None:
    buckets = hashing().hash_vectors(6, torch.zeros(1, 24, 5)).view(4, 24)
    assert torch.equal(buckets, torch.arange(4).unsqueeze(1).expand(4, 24) * 6)


def test_short_types_are_hashed_in_float32() -> None:
    vecs = series(6, 32, 5).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        buckets = hashing().hash_vectors(8, vecs)
    assert torch.equal(buckets, hashing().hash_vectors(8, vecs.float()))


def test_evaluation_draws_anew() -> None:
    model, x = small().eval(), series(2, 20, 2)
    assert not torch.equal(model(x), model(x))


def test_reseeded_draws_repeat() -> None:
    model, x = small().eval(), series(2, 20, 2)
    model.draws.manual_seed(7)
    first = model(x)
    model.draws.manual_seed(7)
    assert torch.equal(model(x), first)


def test_layers_of_a_copy_draw_from_the_copys_generator() -> None:
    model = small()
    copied = copy.deepcopy(model)
    held = generators_of(copied)
    assert len(held) == 4
    assert all(one is copied.draws for one in held)
    assert copied.draws is not model.draws


def test_dropout_places(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = dropout_shapes(monkeypatch, small(n_layers=1, d_ff=24), series(2, 20, 2))
    tokens, hidden = (2, 20, 16), (2, 20, 24)
    assert shapes == [tokens, tokens, hidden, tokens, tokens]


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(UsageError, match="d_model=16, n_heads=3"):
        small(n_heads=3)
