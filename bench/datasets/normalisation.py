"""Scaling of signals to zero mean and unit deviation, vectorised and in blocks."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_VALUES_PER_BLOCK = 1 << 17


def standard_scale(signal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale every channel over time to zero mean and unit population deviation; a zero deviation becomes 1.

    Parameters
    ----------
    signal
        ``(..., n_times, n_channels)``.

    Returns
    -------
    NDArray[np.float64]
        Same shape.
    """
    mean, deviation, constant = _mean_and_deviation(signal)
    return np.where(constant, 0.0, signal - mean) / deviation


def standard_scale_of(signal: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and deviation by which `standard_scale` scales a signal ``(n_times, n_channels)``.

    Both are ``(n_channels,)``; the deviation of a constant channel is 1.
    """
    mean, deviation, _ = _mean_and_deviation(signal)
    return mean[0], deviation[0]


def _mean_and_deviation(
    signal: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return mean and deviation over time, 1 of a constant channel, and which are; all ``(..., 1, n_channels)``."""
    mean = signal.mean(axis=-2, keepdims=True)
    centred = signal - mean
    deviation = np.sqrt(np.mean(centred * centred, axis=-2, keepdims=True))
    constant = signal.max(axis=-2, keepdims=True) == signal.min(axis=-2, keepdims=True)
    # The squares of differences below 1e-162 are zero.
    constant |= deviation == 0.0
    return mean, np.where(constant, 1.0, deviation), constant


def normalise_windows(windows: NDArray[np.float32]) -> None:
    """Scale each window and channel to zero mean and unit population deviation, in place.

    Sums are in float64; a zero deviation becomes 1, as in the published loaders.

    Parameters
    ----------
    windows
        ``(n, n_times, n_channels)``.
    """
    n_times = windows.shape[1]
    for block in blocks(windows):
        x = block.astype(np.float64)
        x -= np.einsum("btc->bc", x)[:, None] / n_times
        # A constant float32 channel sums exactly in float64, so its deviation is exactly zero.
        deviation = np.sqrt(np.einsum("btc,btc->bc", x, x) / n_times)
        deviation[deviation == 0.0] = 1.0
        x *= (1.0 / deviation)[:, None]
        block[...] = x


def channel_statistics(
    windows: NDArray[np.float32], indices: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and population deviation of each channel over the given windows; a zero deviation becomes 1.

    Parameters
    ----------
    windows
        ``(n, n_times, n_channels)``, possibly memory-mapped.
    indices
        Positions of the training windows.

    Returns
    -------
    tuple[NDArray[np.float64], NDArray[np.float64]]
        Two arrays ``(n_channels,)``.
    """
    step = _windows_per_block(windows)
    parts = [indices[start : start + step] for start in range(0, len(indices), step)]
    n_values = len(indices) * windows.shape[1]
    mean = (
        sum((windows[part].sum(axis=(0, 1), dtype=np.float64) for part in parts), np.float64(0.0)) / n_values
    )
    squares = sum((np.square(windows[part] - mean).sum(axis=(0, 1)) for part in parts), np.float64(0.0))
    deviation = np.sqrt(squares / n_values)
    return mean, np.where(deviation == 0.0, 1.0, deviation)


def normalise_channels(
    windows: NDArray[np.float32], mean: NDArray[np.float64], deviation: NDArray[np.float64]
) -> None:
    """Subtract each channel's mean and divide by its deviation, in place."""
    for block in blocks(windows):
        block[...] = (block - mean) / deviation


def blocks(windows: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    """Yield views of consecutive windows, small enough that a float64 copy stays in the processor's cache."""
    step = _windows_per_block(windows)
    for start in range(0, len(windows), step):
        yield windows[start : start + step]


def _windows_per_block(windows: NDArray[np.float32]) -> int:
    return max(1, _VALUES_PER_BLOCK // max(1, windows[:1].size))
