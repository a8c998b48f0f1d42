"""Training and timing round float32 products alike: not at all."""

from collections.abc import Iterator

import pytest
import torch

from bench.measure.tf32 import allows_tf32, forbid_tf32


@pytest.fixture
def allowed() -> Iterator[None]:
    """Allow TF32 for a test, as torch does for convolutions."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


@pytest.mark.usefixtures("allowed")
def test_what_is_forbidden_is_recorded_as_forbidden() -> None:
    assert allows_tf32("cuda")
    forbid_tf32()
    assert not allows_tf32("cuda")


@pytest.mark.usefixtures("allowed")
def test_a_cpu_has_no_tf32() -> None:
    assert not allows_tf32("cpu")
