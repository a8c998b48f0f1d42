"""PatchTST against the published code."""

import pytest
import torch

from bench.errors import UsageError
from bench.models.patchtst import PatchTST, normalise_instance
from tests.models.golden import (
    DTYPES,
    MODULES,
    TOLERANCE,
    assert_close,
    assert_matches,
    build_from,
    load_fixture,
)

# Ours keeps the channels on an axis of their own; the recorded one folds them into the batch. See the test of it.
PATCHTST_MODULES = {**MODULES, "patch_embedding": None}


@pytest.mark.parametrize("dtype", DTYPES)
def test_patchtst_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("patchtst")
    assert_matches(build_from(fixture), fixture, dtype, PATCHTST_MODULES)


def test_embedding_matches_golden() -> None:
    fixture = load_fixture("patchtst")
    model = build_from(fixture)
    assert isinstance(model, PatchTST)
    tokens = model.embedding(normalise_instance(fixture.tensor("x", torch.float32)))
    expected = fixture.tensor("act/patch_embedding", torch.float32)
    assert_close(tokens.flatten(0, 1), expected, TOLERANCE[torch.float32], "patch embedding")


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradient_of_the_normalised_series_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("patchtst")
    model = build_from(fixture).to(dtype)
    assert isinstance(model, PatchTST)
    suffix = "_f64" if dtype == torch.float64 else ""
    normalised = normalise_instance(fixture.tensor("x", dtype)).requires_grad_()
    tokens = model.embedding(normalised)
    encoded = model.encoder(tokens.flatten(0, 1)).unflatten(0, tokens.shape[:2])
    logits = model.head.projection(model.head.features(encoded))
    (gradient,) = torch.autograd.grad(logits.square().sum(), normalised)
    expected = fixture.tensor(f"aux/grad_x_normalized{suffix}", dtype)
    assert_close(gradient, expected, TOLERANCE[dtype], "gradient of the normalised series")


def test_a_patch_longer_than_the_padded_series_is_refused() -> None:
    with pytest.raises(UsageError, match="patch_len=16 is longer than the series of 7 steps"):
        PatchTST(n_channels=1, n_times=7, n_classes=2)
