"""Spectral features: octaves that lose nothing, and sines whose power is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.estimators.contract import Windows
from bench.estimators.spectral import Spectral, describe, octaves


def sine(frequency: float, amplitude: float = 1.0, n_times: int = 256) -> Windows:
    """One window of one channel; the frequency is in cycles per window."""
    return (amplitude * np.sin(2 * np.pi * frequency * np.arange(n_times) / n_times)).astype(np.float32)[
        None, None
    ]


def test_octaves_of_a_second_at_256_hz_are_the_bands_of_eeg() -> None:
    bands = [(band.start, band.stop - 1) for band in octaves(256, 6)]
    assert bands == [(65, 128), (33, 64), (17, 32), (9, 16), (5, 8), (0, 4)]


@given(n_times=st.integers(2, 4000), n_bands=st.integers(1, 12))
def test_octaves_hold_every_bin_once(n_times: int, n_bands: int) -> None:
    bands = octaves(n_times, n_bands)
    assert 1 <= len(bands) <= n_bands
    bins = [list(range(n_times // 2 + 1))[band] for band in bands]
    assert sorted(position for band in bins for position in band) == list(range(n_times // 2 + 1))
    assert all(bins)
    # The level is taken out before, so a band of frequency 0 alone would be empty.
    assert bins[-1] != [0]


@pytest.mark.parametrize(("frequency", "band"), [(100, 0), (50, 1), (24, 2), (12, 3), (6, 4), (2, 5)])
def test_a_pure_sine_is_in_its_octave_with_its_power(frequency: float, band: int) -> None:
    levels, powers = describe(sine(frequency, amplitude=3.0), 6)
    variance, bands = powers[0, 0], powers[0, 1:]
    assert levels == pytest.approx(0, abs=0.05)
    assert variance == pytest.approx(4.5, rel=0.01)
    assert bands.argmax() == band
    assert bands[band] == pytest.approx(4.5, rel=0.02)
    assert bands.sum() == pytest.approx(4.5, rel=0.02)


def test_powers_of_noise_add_up_to_its_variance() -> None:
    noise = np.random.default_rng(0).normal(scale=2.0, size=(500, 1, 128)).astype(np.float32)
    _, powers = describe(noise, 6)
    assert powers[:, 1:].sum(axis=1).mean() == pytest.approx(4.0, rel=0.03)
    # The upper half of all frequencies has half of the power of white noise.
    assert powers[:, 1].mean() == pytest.approx(2.0, rel=0.05)


@given(scale=st.floats(0.1, 10), shift=st.floats(-5, 5), seed=st.integers(0, 5))
def test_scale_is_squared_and_level_goes_to_the_level(scale: float, shift: float, seed: int) -> None:
    windows = np.random.default_rng(seed).normal(size=(2, 3, 50)).astype(np.float32)
    levels, powers = describe(windows, 4)
    other_levels, other_powers = describe((scale * windows + shift).astype(np.float32), 4)
    np.testing.assert_allclose(other_levels, scale * levels + shift, atol=1e-4)
    np.testing.assert_allclose(other_powers, scale**2 * powers, rtol=2e-3, atol=1e-5)


def test_channels_and_windows_are_apart() -> None:
    windows = np.random.default_rng(0).normal(size=(3, 2, 40)).astype(np.float32)
    levels, powers = describe(windows, 4)
    one_level, one_power = describe(windows[1:2, 1:], 4)
    np.testing.assert_allclose(levels[1, 1], one_level[0, 0])
    np.testing.assert_allclose(powers[1].reshape(2, -1)[1], one_power[0])


def test_sines_of_two_octaves_are_told_apart_at_any_phase_and_height() -> None:
    generator = np.random.default_rng(1)
    labels = np.arange(80) % 2
    windows = np.concatenate(
        [
            np.roll(sine(20 if label else 10, generator.uniform(0.5, 2)), generator.integers(256))
            for label in labels
        ]
    )
    model = Spectral().fit(windows[:40], labels[:40])
    assert (model.predict(windows[40:]) == labels[40:]).all()


def test_a_silent_channel_is_no_louder_than_the_softest_in_training() -> None:
    windows = np.random.default_rng(0).normal(size=(20, 1, 32)).astype(np.float32)
    labels = np.arange(20) % 2
    windows[0] = 0
    model = Spectral().fit(windows, labels)
    _, powers = describe(windows[1:], 6)
    np.testing.assert_allclose(model.floors_, powers.min(axis=0))
    assert np.isfinite(model.predict_proba(np.zeros_like(windows))).all()
