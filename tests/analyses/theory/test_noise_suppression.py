"""The constants of the first proposition against hand-computed values, and what LayerNorm makes of them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from bench.analyses.theory.noise_suppression import (
    between_class_scatter,
    class_moments,
    constants,
    draw_points,
    eigenbasis,
    jacobians,
    ratio_falls,
)
from bench.models.medmamba import ChannelMixing
from bench.train.part import Part

STRETCH = np.diag([2.0, 0.5, 0.1])[None]


def part_of(windows: np.ndarray, labels: list[int]) -> Part:
    n = len(windows)
    return Part(windows.astype(np.float32), np.array(labels), np.array(["a"] * n), np.arange(n))


@pytest.mark.parametrize(("r", "gamma", "floor"), [(1, 0.5, 1.0), (2, 0.1, 0.5)])
def test_constants_of_a_diagonal_map(r: int, gamma: float, floor: float) -> None:
    found = constants(STRETCH, np.eye(3), r)
    assert (found.gamma[0], found.floor[0]) == pytest.approx((gamma, floor))
    assert found.premise.tolist() == [True]


def test_identity_suppresses_nothing() -> None:
    assert constants(np.eye(3)[None], np.eye(3), 1).premise.tolist() == [False]


def test_wrong_subspace_fails_the_premise() -> None:
    assert constants(STRETCH, np.eye(3)[:, ::-1], 1).premise.tolist() == [False]


@pytest.mark.parametrize(("point", "falls"), [([1.0, 1.0, 0.0], True), ([0.0, 1.0, 0.0], False)])
def test_ratio_of_a_point(point: list[float], falls: bool) -> None:
    # Without signal there is no ratio that could fall.
    assert ratio_falls(STRETCH, np.array([point]), np.eye(3), 1).tolist() == [falls]


@given(st.integers(0, 10_000), st.integers(3, 12))
def test_no_weights_contract_all_but_one_direction(seed: int, n_channels: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    layer = ChannelMixing(n_channels, dropout=0.1)
    for weight in layer.parameters():
        weight.data = torch.randn(weight.shape, generator=generator)
    point = torch.randn(1, n_channels, generator=generator).numpy()
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(n_channels, n_channels)))[0]
    assert constants(jacobians(layer, point), basis, 1).gamma[0] >= 1 - 1e-3


def test_jacobian_is_the_layers_and_leaves_it_alone() -> None:
    linear = nn.Linear(3, 3)
    layer = nn.Sequential(linear, nn.Dropout(0.5))
    points = np.ones((2, 3), np.float32)
    weight = linear.weight.detach().double().numpy()
    np.testing.assert_allclose(jacobians(layer, points), np.stack([weight, weight]))
    assert linear.weight.dtype == torch.float32
    assert layer.training


def test_moments_by_hand() -> None:
    windows = np.array([[[1, 0], [-1, 0]], [[3, 0], [-3, 0]], [[0, 2], [0, -2]]])
    found = class_moments(part_of(windows, [0, 0, 1]), 3)
    np.testing.assert_allclose(found.share, [2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(found.mean[0], [[2, 0], [-2, 0]])
    np.testing.assert_allclose(found.covariance[0], [[5, 0], [0, 0]])
    np.testing.assert_allclose(found.covariance[1], [[0, 0], [0, 4]])


def test_scatter_finds_the_channel_in_which_classes_differ() -> None:
    # Phase-locked in channel 1 with opposite signs, the same in channel 0; every window has mean zero.
    wave = np.array([1.0, -1.0])
    windows = np.stack([np.stack([wave, sign * wave], axis=1) for sign in (1, -1)])
    scatter = between_class_scatter(class_moments(part_of(windows, [0, 1]), 2))["means"]
    np.testing.assert_allclose(scatter, [[0, 0], [0, 1]], atol=1e-12)
    np.testing.assert_allclose(np.abs(eigenbasis(scatter)[:, 0]), [0, 1], atol=1e-12)


def test_scatter_of_covariances_needs_no_phase() -> None:
    wave = np.array([1.0, -1.0])
    windows = np.stack(
        [np.stack([sign * wave, sign * size * wave], axis=1) for size in (1, 3) for sign in (1, -1)]
    )
    scatter = between_class_scatter(class_moments(part_of(windows, [0, 0, 1, 1]), 2))
    np.testing.assert_allclose(scatter["means"], 0, atol=1e-12)
    # The difference of either covariance to the mean one is [[0, 1], [1, 4]], with either sign.
    np.testing.assert_allclose(scatter["covariances"], [[1, 4], [4, 17]])


def test_points_are_steps_of_the_parts_windows() -> None:
    windows = np.arange(24).reshape(4, 3, 2)
    part = Part(windows.astype(np.float32), np.zeros(4, int), np.array(list("abcd")), np.array([1, 3]))
    points = draw_points(part, 10, np.random.default_rng(0))
    assert points.shape == (2, 2)
    assert points[0].tolist() in windows[1].tolist()
    assert points[1].tolist() in windows[3].tolist()
