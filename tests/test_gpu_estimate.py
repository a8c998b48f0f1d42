"""The estimate of what a card could do at best."""

import pytest
import torch
import torch.nn.functional as F

from benchmarks import gpu_estimate
from benchmarks.gpu_estimate import Card, Fused, Traffic


def on_meta(*shape: int) -> torch.Tensor:
    return torch.empty(shape, device="meta")


def test_a_product_moves_its_factors_and_itself() -> None:
    with Traffic() as traffic:
        (on_meta(2, 3) @ on_meta(3, 5)).t()
    assert (traffic.n_kernels, traffic.n_bytes) == (1, 4 * (6 + 15 + 10))


def test_attention_is_one_kernel_without_its_matrix() -> None:
    traffic = Traffic()
    with traffic, Fused(traffic):
        q, k, v = (on_meta(1, 2, 64, 8) for _ in range(3))
        F.scaled_dot_product_attention(q, k, v)
    assert (traffic.n_kernels, traffic.n_bytes) == (1, 4 * 4 * 2 * 64 * 8)


def test_scans_are_kernels_of_their_own() -> None:
    settings = gpu_estimate.hyperparameters("medmamba", "script")
    traffic = gpu_estimate.traffic_of("medmamba", settings | {"n_layers": 1, "strides": (5,)})
    more = gpu_estimate.traffic_of("medmamba", settings | {"n_layers": 2, "strides": (5,)})
    scan = gpu_estimate.BATCH * 51 * (256 + 2 * 2 * 256 + 2 * 2 * 16) * 4
    assert more.n_bytes - traffic.n_bytes > scan
    assert more.n_kernels - traffic.n_kernels < 60


def test_the_slowest_bound_counts() -> None:
    traffic = Traffic()
    traffic.n_bytes, traffic.n_kernels = 2_000_000_000, 1000
    operations, moved, started = gpu_estimate.bounds_ms(Card("a card", 1e12, 1e12), 10**7, traffic)
    assert operations == pytest.approx(2.56)
    assert moved == pytest.approx(2.0)
    assert started == pytest.approx(5.0)
