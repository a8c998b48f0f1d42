"""iTransformer against the published code."""

import pytest
import torch

from bench.models.itransformer import iTransformer
from tests.models.golden import DTYPES, assert_matches, build_from, load_fixture


@pytest.mark.parametrize("dtype", DTYPES)
def test_itransformer_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("itransformer")
    assert_matches(build_from(fixture), fixture, dtype)


def test_embedding_ends_in_dropout() -> None:
    model = iTransformer(n_channels=40, n_times=20, n_classes=2, d_model=64, n_layers=1, dropout=0.25).train()
    dropped = model.embedding(torch.randn(4, 20, 40))
    assert (dropped == 0).float().mean().item() == pytest.approx(0.25, abs=0.03)


def test_channels_are_exchangeable_before_the_head() -> None:
    model = iTransformer(n_channels=4, n_times=20, n_classes=2, d_model=16, n_layers=1).eval()
    x = torch.randn(2, 20, 4, generator=torch.Generator().manual_seed(0))
    tokens = model.encoder(model.embedding(x))
    swapped = model.encoder(model.embedding(x.flip(-1)))
    torch.testing.assert_close(swapped, tokens.flip(1))
