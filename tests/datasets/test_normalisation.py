"""Scaling: agreement with the published loaders' per-sample scaler, constant channels, and independence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from bench.datasets.normalisation import (
    channel_statistics,
    normalise_channels,
    normalise_windows,
    standard_scale,
)


def windows(n: int = 300, n_times: int = 250, n_channels: int = 12, seed: int = 0) -> NDArray[np.float32]:
    generator = np.random.default_rng(seed)
    scale = 10.0 ** generator.uniform(-3, 3, n_channels)
    return (generator.normal(5.0, 2.0, (n, n_times, n_channels)) * scale).astype(np.float32)


def test_windows_agree_with_the_published_scaler() -> None:
    from sklearn.preprocessing import StandardScaler

    scaled = windows()
    normalise_windows(scaled)
    expected = np.stack([StandardScaler().fit_transform(one.astype(np.float64)) for one in windows()])
    np.testing.assert_allclose(scaled, expected, rtol=1e-6, atol=1e-6)


@given(
    npst.arrays(
        np.float32,
        st.tuples(st.integers(1, 4), st.integers(2, 40), st.integers(1, 5)),
        elements=st.floats(-1000, 1000, width=32),
    )
)
@settings(deadline=None)
def test_each_channel_ends_with_mean_zero_and_deviation_one_or_zero(one: NDArray[np.float32]) -> None:
    constant = np.ptp(one, axis=1) == 0
    varies = one.astype(np.float64).std(axis=1) > 1e-3
    normalise_windows(one)
    np.testing.assert_array_equal(one.transpose(0, 2, 1)[constant], 0.0)
    np.testing.assert_allclose(one.mean(axis=1, dtype=np.float64)[varies], 0.0, atol=1e-5)
    np.testing.assert_allclose(one.std(axis=1, dtype=np.float64)[varies], 1.0, atol=1e-5)


@pytest.mark.parametrize("n_times", [128, 250, 256, 300, 3000])
@pytest.mark.parametrize("value", [0.1, -3.3e5, 1e-30])
def test_constant_channel_becomes_zero(n_times: int, value: float) -> None:
    one = np.full((2, n_times, 2), value, np.float32)
    normalise_windows(one)
    np.testing.assert_array_equal(one, 0.0)


@pytest.mark.parametrize("value", [0.1, -3.3e5, 1e-30])
def test_constant_channel_of_a_record_becomes_zero(value: float) -> None:
    np.testing.assert_array_equal(standard_scale(np.full((2501, 2), value)), 0.0)


def test_record_is_scaled_over_its_whole_length() -> None:
    from sklearn.preprocessing import StandardScaler

    record = windows(n=1, n_times=2500)[0].astype(np.float64)
    np.testing.assert_allclose(standard_scale(record), StandardScaler().fit_transform(record), atol=1e-9)


def test_windows_do_not_influence_one_another() -> None:
    alone, together = windows(n=1), windows(n=300)
    together[:1] = alone
    normalise_windows(alone)
    normalise_windows(together)
    np.testing.assert_array_equal(alone[0], together[0])


def test_channel_statistics_are_those_of_the_given_windows() -> None:
    indices = np.arange(0, 300, 7)
    mean, deviation = channel_statistics(windows(), indices)
    chosen = windows()[indices].astype(np.float64)
    np.testing.assert_allclose(mean, chosen.mean(axis=(0, 1)), rtol=1e-12)
    np.testing.assert_allclose(deviation, chosen.std(axis=(0, 1)), rtol=1e-12)


def test_channel_scaling_inverts() -> None:
    mean, deviation = channel_statistics(windows(), np.arange(300))
    scaled = windows()
    normalise_channels(scaled, mean, deviation)
    np.testing.assert_allclose(scaled * deviation + mean, windows(), rtol=1e-4, atol=1e-4)


def test_constant_channel_over_all_windows_becomes_zero() -> None:
    one = np.full((4, 8, 1), 0.25, np.float32)
    mean, deviation = channel_statistics(one, np.arange(4))
    normalise_channels(one, mean, deviation)
    np.testing.assert_array_equal(one, 0.0)


def test_differences_whose_squares_vanish_count_as_constant() -> None:
    signal = np.array([[1e-200, 1.0], [2e-200, 2.0]])
    np.testing.assert_allclose(standard_scale(signal), [[0.0, -1.0], [0.0, 1.0]], atol=1e-12)
