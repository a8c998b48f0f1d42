"""MiniRocket's kernels, dilations, biases and shares against sums written out one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import ModelError
from bench.estimators import minirocket
from bench.estimators.contract import Labels, Windows
from bench.estimators.minirocket import (
    KERNELS,
    Convolution,
    MiniRocket,
    convolve,
    draw_convolutions,
    shares_above,
    spread_dilations,
    transform,
)


def weights_of(kernel: tuple[int, ...]) -> list[int]:
    return [2 if position in kernel else -1 for position in range(9)]


def output_by_hand(
    window: np.ndarray, channels: tuple[int, ...], kernel: tuple[int, ...], dilation: int, *, padded: bool
) -> list[float]:
    """One output after the other: the middle weight on each step, zeros outside of the window."""
    n_times, reach = window.shape[1], 4 * dilation
    steps = range(n_times) if padded else range(reach, n_times - reach)
    output = []
    for step in steps:
        total = 0.0
        for channel in channels:
            for position, weight in enumerate(weights_of(kernel)):
                at = step + (position - 4) * dilation
                total += weight * float(window[channel, at]) if 0 <= at < n_times else 0.0
        output.append(total)
    return output


def noise(n_windows: int, n_channels: int, n_times: int, seed: int = 0) -> Windows:
    return np.random.default_rng(seed).normal(size=(n_windows, n_channels, n_times)).astype(np.float32)


def test_kernels_are_all_with_three_twos_and_six_ones_below_zero() -> None:
    assert len(KERNELS) == len(set(KERNELS)) == 84
    assert all(sum(weights_of(kernel)) == 0 for kernel in KERNELS)
    assert list(KERNELS) == list(combinations(range(9), 3))


def test_a_kernel_by_hand() -> None:
    impulse = np.zeros(9, np.float32)
    impulse[3] = 1
    assert convolve(impulse, (3, 4, 5), 1) == [2]
    assert convolve(impulse, (0, 1, 2), 1) == [-1]
    ramp = np.arange(20, dtype=np.float32)
    # Ones: -(sum of nine steps); twos replace three of them: 3 * (0 + 2 + 4) - (0 + 2 + ... + 16) = 18 - 72.
    np.testing.assert_array_equal(convolve(ramp, (0, 1, 2), 2), [-54.0] * 4)


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize(("kernel", "dilation"), [((0, 1, 2), 1), ((2, 5, 8), 2), ((0, 4, 7), 4)])
def test_shares_are_those_of_outputs_written_out(
    kernel: tuple[int, ...], dilation: int, padded: bool
) -> None:
    windows, channels, biases = noise(5, 3, 40), (2, 0), np.array([-1.5, 0.0, 2.0], np.float32)
    features = transform(windows, [Convolution(kernel, dilation, channels, padded, biases)])
    for window, shares in zip(windows, features, strict=True):
        output = output_by_hand(window, channels, kernel, dilation, padded=padded)
        expected = [sum(value > bias for value in output) / len(output) for bias in biases.tolist()]
        np.testing.assert_allclose(shares, expected, atol=1e-6)


@given(
    n_outputs=st.integers(1, 600), n_windows=st.integers(1, 4), seed=st.integers(0, 9), high=st.integers(1, 4)
)
def test_long_outputs_are_counted_whole(n_outputs: int, n_windows: int, seed: int, high: int) -> None:
    output = np.random.default_rng(seed).integers(0, high, (n_outputs, n_windows)).astype(np.float32)
    biases = np.array([-1.0, 0.0, 1.0], np.float32)
    expected = [(output > bias).mean(axis=0) for bias in biases]
    np.testing.assert_allclose(shares_above(output, biases), expected, rtol=1e-6)


def test_an_output_equal_to_the_bias_is_not_above_it() -> None:
    np.testing.assert_array_equal(shares_above(np.zeros((4, 1), np.float32), np.zeros(1, np.float32)), [[0]])


def test_dilations_by_hand() -> None:
    # 2 ** 0, 2 ** (log2(127 / 8) / 3) = 2.5, 6.3 and 15.9, cut to whole numbers; 6 features a kernel over four.
    assert spread_dilations(128, 84 * 6, 4) == {1: 2, 2: 2, 6: 1, 15: 1}
    assert spread_dilations(9, 10_000, 32) == {1: 119}


@given(n_times=st.integers(9, 4000), n_features=st.integers(84, 20_000), max_dilations=st.integers(1, 40))
def test_dilations_fit_the_window_and_share_all_features(
    n_times: int, n_features: int, max_dilations: int
) -> None:
    dilations = spread_dilations(n_times, n_features, max_dilations)
    assert list(dilations) == sorted(dilations)
    assert next(iter(dilations)) == 1
    assert 8 * max(dilations) < n_times
    assert sum(dilations.values()) == n_features // 84
    assert min(dilations.values()) >= 1
    assert len(dilations) <= max_dilations


def test_ten_thousand_features_are_9996() -> None:
    windows = noise(4, 3, 128)
    convolutions = draw_convolutions(windows, 10_000, 32, np.random.default_rng(0))
    features = transform(windows, convolutions)
    assert features.shape == (4, 9_996)
    assert features.dtype == np.float32
    assert 0 <= features.min() <= features.max() <= 1


def test_biases_are_quantiles_of_one_training_windows_padded_output() -> None:
    windows = noise(1, 1, 30)
    convolutions = draw_convolutions(windows, 84 * 3, 2, np.random.default_rng(0))
    position = 1
    for convolution in convolutions:
        output = output_by_hand(windows[0], (0,), convolution.kernel, convolution.dilation, padded=True)
        for bias in convolution.biases:
            quantile = (position * 1.618033988749895) % 1
            assert bias == pytest.approx(np.quantile(output, quantile), abs=1e-4)
            position += 1
    assert position - 1 == 84 * 3


def test_padding_takes_turns_within_and_between_dilations() -> None:
    convolutions = draw_convolutions(noise(2, 1, 64), 84 * 8, 8, np.random.default_rng(0))
    padded = np.array([convolution.padded for convolution in convolutions]).reshape(-1, 84)
    assert padded[0, 0]
    assert (padded[:, 1:] != padded[:, :-1]).all()
    assert (padded[1:] != padded[:-1]).all()


def test_channels_are_drawn_without_replacement_and_at_most_nine() -> None:
    drawn = [
        one.channels for one in draw_convolutions(noise(2, 19, 64), 84 * 30, 32, np.random.default_rng(0))
    ]
    sizes = np.array([len(channels) for channels in drawn])
    assert all(len(set(channels)) == len(channels) for channels in drawn)
    assert {channel for channels in drawn for channel in channels} == set(range(19))
    assert (sizes.min(), sizes.max()) == (1, 9)
    # 2 ** u with u uniform up to log2(10): a single channel with probability log2(2) / log2(10).
    assert (sizes == 1).mean() == pytest.approx(1 / np.log2(10), abs=0.06)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = noise(7, 2, 32)
    convolutions = draw_convolutions(windows, 840, 32, np.random.default_rng(0))
    whole = transform(windows, convolutions)
    monkeypatch.setattr(minirocket, "_BLOCK", 3)
    np.testing.assert_array_equal(transform(windows, convolutions), whole)


def test_a_constant_added_to_a_window_changes_no_unpadded_share() -> None:
    windows = noise(6, 1, 64)
    convolutions = [
        one for one in draw_convolutions(windows, 840, 32, np.random.default_rng(0)) if not one.padded
    ]
    np.testing.assert_allclose(
        transform(windows + 8, convolutions), transform(windows, convolutions), atol=0.05
    )


def test_the_seed_decides() -> None:
    windows = noise(6, 3, 32)
    first, again, other = (
        [one.channels for one in draw_convolutions(windows, 840, 32, np.random.default_rng(seed))]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_windows_that_differ_in_rhythm_are_told_apart() -> None:
    labels: Labels = np.arange(80) % 2
    cycles = np.where(labels, 9, 5)[:, None, None] * np.arange(64) / 64
    phase = np.random.default_rng(1).uniform(size=(80, 1, 1))
    windows = (np.sin(2 * np.pi * (cycles + phase)) + 0.5 * noise(80, 1, 64)).astype(np.float32)
    model = MiniRocket(n_features=840, random_state=0).fit(windows[:40], labels[:40])
    assert (model.predict(windows[40:]) == labels[40:]).mean() > 0.9


def test_windows_shorter_than_a_kernel_are_refused() -> None:
    with pytest.raises(ModelError, match="windows of 8 steps are shorter than its kernels of 9"):
        MiniRocket().fit(noise(4, 1, 8), np.arange(4) % 2)


def test_fewer_features_than_kernels_are_refused() -> None:
    with pytest.raises(ModelError, match="n_features is 83; give at least 84"):
        MiniRocket(n_features=83).fit(noise(4, 1, 16), np.arange(4) % 2)
