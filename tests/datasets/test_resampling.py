"""Linear interpolation: numpy's own as the reference, ends kept, straight lines unchanged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.datasets.resampling import resample_linear


@given(n_in=st.integers(2, 400), n_out=st.integers(2, 400), seed=st.integers(0, 1000))
def test_agrees_with_numpy(n_in: int, n_out: int, seed: int) -> None:
    signal = np.random.default_rng(seed).normal(size=(n_in, 3))
    points = np.linspace(0, n_in - 1, n_out)
    expected = np.stack([np.interp(points, np.arange(n_in), one) for one in signal.T], axis=1)
    np.testing.assert_allclose(resample_linear(signal, n_out), expected, atol=1e-12)


def test_first_and_last_sample_are_kept() -> None:
    signal = np.random.default_rng(0).normal(size=(5000, 12))
    resampled = resample_linear(signal, 2500)
    np.testing.assert_array_equal(resampled[[0, -1]], signal[[0, -1]])


def test_same_length_changes_nothing() -> None:
    signal = np.random.default_rng(0).normal(size=(100, 2))
    np.testing.assert_allclose(resample_linear(signal, 100), signal, atol=1e-12)


@pytest.mark.parametrize("shape", [(10,), (1, 3)])
def test_signal_that_cannot_be_interpolated(shape: tuple[int, ...]) -> None:
    with pytest.raises(AssertionError, match=r"must be|cannot interpolate"):
        resample_linear(np.zeros(shape), 5)
