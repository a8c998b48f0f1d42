"""Moments of windows and of recordings, against sums written out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bench.analyses.centralization.moments import (
    centred,
    moments,
    pooled,
    rows_of,
    standardised,
    standardised_by,
)


def windows(seed: int = 0, n: int = 5, n_times: int = 7, n_channels: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(3.0, 2.0, size=(n, n_times, n_channels))


def test_moments_of_one_window_by_hand() -> None:
    found = moments(np.array([[[1.0, 0.0], [2.0, 1.0], [4.0, 0.0]]]))
    assert found.n_times.tolist() == [3]
    assert found.n_pairs.tolist() == [2]
    assert found.second[0].tolist() == [[21, 2], [2, 1]]
    # Rows at the later step: x(2) x(1)' + x(3) x(2)'.
    assert found.lagged[0].tolist() == [[10, 4], [1, 0]]
    assert found.early_second[0].tolist() == [[5, 2], [2, 1]]


def test_recording_is_the_sum_of_its_windows_whatever_their_order() -> None:
    x = windows()
    names = np.array(["b", "a", "b", "a", "b"])
    found = pooled(moments(x), names)
    assert found.n_times.tolist() == [14, 21]
    np.testing.assert_allclose(found.second[0], sum(one.T @ one for one in x[[1, 3]]))
    np.testing.assert_allclose(found.lagged[1], sum(one[1:].T @ one[:-1] for one in x[[0, 2, 4]]))


def test_no_pair_reaches_from_one_window_to_the_next() -> None:
    x = windows(n=2)
    assert pooled(moments(x), np.array(["a", "a"])).n_pairs.tolist() == [12]


@given(st.integers(0, 10_000), st.floats(-50, 50))
def test_centred_moments_are_those_of_the_centred_window(seed: int, offset: float) -> None:
    x = windows(seed) + offset
    by_hand = moments(x - x.mean(axis=1, keepdims=True))
    found = centred(moments(x))
    for name in ("total", "early", "late", "second", "early_second", "lagged"):
        np.testing.assert_allclose(getattr(found, name), getattr(by_hand, name), atol=1e-8)


@given(st.integers(0, 10_000))
def test_standardised_moments_are_those_of_the_z_score(seed: int) -> None:
    x = windows(seed)
    by_hand = moments((x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True))
    found = standardised(moments(x))
    for name in ("second", "early_second", "lagged"):
        np.testing.assert_allclose(getattr(found, name), getattr(by_hand, name), atol=1e-8)


def test_constant_channel_becomes_zero() -> None:
    x = windows()
    x[:, :, 1] = 0.1
    found = standardised(moments(x))
    assert found.is_constant[:, 1].all()
    assert not found.second[:, 1].any()
    assert np.isfinite(found.lagged).all()


def test_windows_are_standardised_by_their_recording() -> None:
    x = np.random.default_rng(2).normal(3.0, 2.0, size=(4, 8, 2))
    units = np.array([0, 0, 1, 1])
    series = x.reshape(2, 16, 2)
    scaled = (series - series.mean(axis=1, keepdims=True)) / series.std(axis=1, keepdims=True)
    expected, whole = moments(scaled.reshape(4, 8, 2)), pooled(moments(x), units)
    found = standardised_by(moments(x), rows_of(whole, units))
    for name in ("total", "early", "late", "second", "early_second", "lagged", "lowest", "highest"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)
