"""The frequency response of a strided convolution over several channels.

Source: MedMamba paper, section "Principle II: Multi-Rate Temporal Decomposition": a stem is a convolution whose kernel
and stride are equal. A kernel of s steps at a rate of f hertz resolves frequencies f / s hertz apart, and its tokens,
f / s a second, follow a rhythm of at most f / 2s hertz; faster ones fold onto slower ones.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_FFT = 512
_WINDOWS_AT_ONCE = 32


def frequencies(n_times: int, rate_hz: float) -> Floats:
    """Return the frequencies of a window, 0 to half the rate, in hertz; long windows are transformed in parts."""
    n_fft = fft_length(n_times)
    return np.arange(n_fft // 2 + 1) * rate_hz / n_fft


def fft_length(n_times: int) -> int:
    """Return the length of the transforms in steps: the window's, made even by dropping a step, and at most 512."""
    return min(n_times - n_times % 2, MAX_FFT)


def response(kernels: Floats, n_fft: int) -> NDArray[np.complex128]:
    """Return the transfer functions ``(n_bins, n_filters, n_channels)`` of kernels ``(n_filters, n_channels, s)``.

    A convolution here is a correlation: filter d gives sum over c, k of w[d, c, k] x[t + k, c].
    """
    return np.conj(np.fft.rfft(kernels, n_fft, axis=-1)).transpose(2, 0, 1)


def relative_gain(transfer: NDArray[np.complex128]) -> Floats:
    """Return the squared response ``(n_bins,)``, averaged over filters and channels, divided by its mean.

    White kernels have 1 everywhere in expectation.
    """
    power = np.mean(np.abs(transfer) ** 2, axis=(1, 2))
    return power / power.mean()


def output_energy(transfer: NDArray[np.complex128], windows: NDArray[np.floating]) -> Floats:
    """Return the share ``(n_bins,)`` of each frequency in the energy of the filters' outputs on windows.

    The mean of each window ``(n, n_times, n_channels)`` is removed, and the window is tapered (Hann);
    channels are summed with their phases, as the filters do.
    """
    n_fft = 2 * (len(transfer) - 1)
    n_parts = windows.shape[1] // n_fft
    parts = windows[:, : n_parts * n_fft].reshape(len(windows) * n_parts, n_fft, -1)
    taper = np.hanning(n_fft + 1)[:-1, None]
    total = np.zeros(len(transfer))
    for start in range(0, len(parts), _WINDOWS_AT_ONCE):
        x = parts[start : start + _WINDOWS_AT_ONCE].astype(np.float64)
        spectrum = np.fft.rfft((x - x.mean(axis=1, keepdims=True)) * taper, axis=1)
        filtered = np.matmul(transfer, spectrum.transpose(1, 2, 0))
        total += np.sum(np.abs(filtered) ** 2, axis=(1, 2))
    # Bins between zero and half the rate stand for a positive and a negative frequency.
    total[1:-1] *= 2
    return total / total.sum()
