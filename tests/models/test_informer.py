"""Informer against the published code, and its sampling."""

import copy
import math

import pytest
import torch
from torch import Tensor

from bench.errors import UsageError
from bench.models.informer import Informer, SparseAttention
from tests.models.golden import DTYPES, assert_matches, build_from, load_fixture, replay_draws
from tests.models.recording import attention_dropout, dropout_shapes, generators_of, record_draws, series


def small(**settings: int) -> Informer:
    return Informer(
        **{"n_channels": 2, "n_times": 20, "n_classes": 3, "d_model": 16, "n_layers": 3, **settings}
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["informer", "informer_sampled"])
def test_informer_matches_golden(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = load_fixture(name)
    replay_draws(monkeypatch, fixture)
    assert_matches(build_from(fixture), fixture, dtype)


def test_sample_does_not_matter_when_all_queries_are_active() -> None:
    fixture = load_fixture("informer")
    assert_matches(build_from(fixture), fixture, torch.float64)


def test_sample_matters_when_few_queries_are_active() -> None:
    fixture = load_fixture("informer_sampled")
    with pytest.raises(AssertionError, match="logits"):
        assert_matches(build_from(fixture), fixture, torch.float32)


@pytest.mark.parametrize("training", [False, True])
def test_one_draw_a_layer_in_layer_order(training: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small().train(training)
    seeded = torch.Generator().manual_seed(0)
    expected = [torch.randint(20, (20, 3), generator=seeded) for _ in range(3)]
    draws = record_draws(monkeypatch, "randint")
    model(series(2, 20, 2))
    assert all(draw.generator is model.draws for draw in draws)
    torch.testing.assert_close([draw.drawn for draw in draws], expected)


@pytest.mark.parametrize(
    ("n_times", "factor", "sampled"),
    [(2, 1, 1), (128, 1, 5), (250, 1, 6), (256, 1, 6), (300, 1, 6), (3000, 1, 9), (40, 2, 8), (40, 12, 40)],
)
def test_number_of_sampled_keys(
    n_times: int, factor: int, sampled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = record_draws(monkeypatch, "randint")
    q = series(1, 1, n_times, 2)
    SparseAttention(factor, torch.Generator())(q, q, q)
    assert draws[0].drawn.shape == (n_times, sampled)


def sparse_attention_by_loops(q: Tensor, k: Tensor, v: Tensor, sample: Tensor) -> Tensor:
    batch, n_heads, n_times, width = q.shape
    out = v.mean(2, keepdim=True).repeat(1, 1, n_times, 1)
    for b in range(batch):
        for h in range(n_heads):
            products = torch.stack([k[b, h, sample[t]] @ q[b, h, t] for t in range(n_times)])
            score = products.max(1).values - products.sum(1) / n_times
            for t in score.argsort(descending=True)[: sample.shape[1]]:
                out[b, h, t] = (k[b, h] @ q[b, h, t] / width**0.5).softmax(0) @ v[b, h]
    # Read as (batch, n_times, heads * width) without moving the head axis, then split in heads.
    return out.reshape(batch, n_times, n_heads, width).transpose(1, 2)


@pytest.mark.parametrize(
    ("batch", "n_heads", "n_times", "factor"),
    [(3, 2, 11, 1), (1, 1, 2, 1), (1, 2, 7, 1), (2, 1, 5, 2), (1, 1, 1, 1), (1, 1, 9, 1)],
)
def test_attention_equals_its_definition(batch: int, n_heads: int, n_times: int, factor: int) -> None:
    q, k, v = series(3, batch, n_heads, n_times, 4, dtype=torch.float64)
    draws = torch.Generator().manual_seed(5)
    n_active = max(1, min(factor * math.ceil(math.log(n_times)), n_times))
    sample = torch.randint(n_times, (n_times, n_active), generator=draws.clone_state())
    actual = SparseAttention(factor, draws)(q, k, v)
    torch.testing.assert_close(actual, sparse_attention_by_loops(q, k, v, sample))


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


def test_probabilities_are_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert attention_dropout(monkeypatch, small().train(), series(2, 20, 2)) == [0.0] * 3


def test_factor_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="factor must be at least 1, got 0"):
        small(factor=0)
