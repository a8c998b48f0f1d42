"""Embeddings: initial distributions, the sinusoidal table, circular neighbours, and where dropout is."""

import math

import pytest
import torch

from bench.errors import UsageError
from bench.models.layers.embedding import SeriesEmbedding, TokenEmbedding, sinusoidal_table
from bench.models.layers.patching import PatchEmbedding, repeat_end
from tests.models.golden import load_fixture


def test_token_embedding_starts_normal() -> None:
    torch.manual_seed(0)
    weight = TokenEmbedding(n_channels=6, d_model=2048).weight
    assert weight.std().item() == pytest.approx(math.sqrt(2 / (3 * 6)), rel=0.02)
    assert abs(weight.mean().item()) < 0.005


def test_token_embedding_wraps_around() -> None:
    embed = TokenEmbedding(n_channels=2, d_model=4)
    x = torch.randn(1, 9, 2)
    torch.testing.assert_close(embed(x.roll(3, dims=1)), embed(x).roll(3, dims=1))


def test_table_is_the_published_one() -> None:
    fixture = load_fixture("transformer")
    expected = fixture.tensor("aux/pe/enc_embedding.position_embedding.pe_rows", torch.float32)
    torch.testing.assert_close(sinusoidal_table(64, 16), expected, atol=1e-6, rtol=0)


def test_odd_width_is_refused() -> None:
    with pytest.raises(UsageError, match="d_model=7"):
        sinusoidal_table(4, 7)


@pytest.mark.parametrize("positional", [True, False])
def test_series_embedding_ends_in_dropout(positional: bool) -> None:
    embed = SeriesEmbedding(3, 40, 64, 0.25, positional=positional).train()
    x = torch.randn(4, 40, 3)
    dropped = embed(x)
    assert (dropped == 0).float().mean().item() == pytest.approx(0.25, abs=0.03)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], embed.eval()(x)[kept] / 0.75)


def test_patches_end_in_dropout() -> None:
    embed = PatchEmbedding(40, 64, 0.25, patch_len=8, stride=4, padding=4).train()
    dropped = embed(torch.randn(4, 40, 3))
    assert (dropped == 0).float().mean().item() == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize(
    ("n_times", "patch_len", "stride", "expected"), [(50, 8, 4, 12), (256, 16, 8, 32), (250, 16, 8, 31)]
)
def test_overlapping_patches_are_counted(n_times: int, patch_len: int, stride: int, expected: int) -> None:
    embed = PatchEmbedding(n_times, 4, 0.0, patch_len=patch_len, stride=stride, padding=stride)
    assert embed.n_patches == expected
    assert embed(torch.randn(1, n_times, 2)).shape == (1, 2, expected, 4)


def test_end_is_padded_with_the_last_step() -> None:
    x = torch.tensor([[[1.0, 2.0, 3.0]]])
    assert repeat_end(x, 2).tolist() == [[[1, 2, 3, 3, 3]]]
    assert torch.equal(repeat_end(x, 0), x)


@pytest.mark.parametrize(("patch_len", "stride"), [(0, 1), (4, 0)])
def test_impossible_patches_are_refused(patch_len: int, stride: int) -> None:
    with pytest.raises(UsageError, match="must be at least 1"):
        PatchEmbedding(10, 4, 0.0, patch_len=patch_len, stride=stride, padding=4)
