"""Transformer against the published code."""

import pytest
import torch

from tests.models.golden import DTYPES, assert_matches, build_from, load_fixture


@pytest.mark.parametrize("dtype", DTYPES)
def test_transformer_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("transformer")
    assert_matches(build_from(fixture), fixture, dtype)
