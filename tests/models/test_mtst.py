"""MTST against the published code."""

import pytest
import torch

from bench.errors import UsageError
from bench.models.mtst import MTST
from tests.models.golden import DTYPES, TOLERANCE, assert_close, assert_matches, build_from, load_fixture

MTST_MODULES = {
    r"encoders\.(\d+)": r"encoders.\1",
    r"encoders\.(\d+)\.attn_layers\.(\d+)": r"encoders.\1.layers.\2",
    # Ours keeps the channels on an axis of their own; see the test of it.
    r"patch_embeddings\.\d+": None,
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_mtst_matches_golden(dtype: torch.dtype) -> None:
    fixture = load_fixture("mtst")
    assert_matches(build_from(fixture), fixture, dtype, MTST_MODULES)


@pytest.mark.parametrize("branch", [0, 1, 2])
def test_embedding_matches_golden(branch: int) -> None:
    fixture = load_fixture("mtst")
    model = build_from(fixture)
    assert isinstance(model, MTST)
    tokens = model.embeddings[branch](fixture.tensor("x", torch.float32))
    expected = fixture.tensor(f"act/patch_embeddings.{branch}", torch.float32)
    assert_close(tokens.flatten(0, 1), expected, TOLERANCE[torch.float32], f"embedding {branch}")


def test_no_patch_length_is_refused() -> None:
    with pytest.raises(UsageError, match="patch_lengths is empty"):
        MTST(n_channels=1, n_times=20, n_classes=2, patch_lengths=())
