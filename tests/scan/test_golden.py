"""Every backend against the recorded scans of the published semantics."""

import pytest
import torch

from bench.scan import ScanInputs, reference, selective_scan
from tests.scan.cases import BACKENDS, TOLERANCE, assert_close, golden, gradients

FIXTURES = ["selective_scan", "selective_scan_long", "selective_scan_stress"]
DTYPES = [pytest.param(dtype, id=str(dtype).removeprefix("torch.")) for dtype in TOLERANCE]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FIXTURES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_equals_recorded_scan(backend: str, name: str, dtype: torch.dtype) -> None:
    inputs, dy, expected = golden(name, dtype)
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in inputs))
    y = selective_scan(leaves, reverse=(False, False), backend=backend)
    assert_close({"y": y, **gradients(y, leaves, dy)}, expected, TOLERANCE[dtype])


@pytest.mark.parametrize("name", FIXTURES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_reverse_is_a_scan_of_the_mirrored_series(backend: str, name: str) -> None:
    inputs, dy, expected = golden(name, torch.float64)
    mirrored = {key: getattr(inputs, key).flip(1) for key in ("u", "delta", "B", "C")}
    leaves = ScanInputs(*(tensor.requires_grad_() for tensor in inputs._replace(**mirrored)))
    y = selective_scan(leaves, reverse=(True, True), backend=backend)
    actual = {"y": y, **gradients(y, leaves, dy.flip(1))}
    for key in ("y", *(f"grad_{field}" for field in mirrored)):
        actual[key] = actual[key].flip(1)
    assert_close(actual, expected, TOLERANCE[torch.float64])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FIXTURES)
def test_last_state_equals_recorded(name: str, dtype: torch.dtype) -> None:
    inputs, _, expected = golden(name, dtype)
    _, last_state = reference.scan_with_last_state(inputs, (False, False))
    assert_close({"last_state": last_state}, expected, TOLERANCE[dtype])
