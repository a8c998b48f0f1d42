"""Level, log-variance and log-power in octaves of each channel, and logistic regression: the plain baseline of EEG.

Estimators do not know a sampling rate, so bands are octaves below the Nyquist frequency: the upper half of all
frequencies, the upper half of the rest, and so on; the last band takes the rest. Little is lost if the field has
names for bands: EEG's delta, theta, alpha, beta and gamma are an octave apart, at 2.5, 5, 10, 20 and 40 Hz (Klimesch,
Frontiers in Human Neuroscience 7:766, 2013), and the octaves of a recording at 256 Hz are 64-128, 32-64, 16-32, 8-16,
4-8 and 0-4 Hz. Log-variance is the usual feature of spatially filtered EEG (Blankertz et al., IEEE Signal Processing
Magazine 25, 2008). The level, the mean of a window, adds what both lack: posture, if a channel measures gravity.
"""
# ruff: noqa: N803 - X is scikit-learn's name

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.signal.windows import hann
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from bench.estimators.contract import Labels, Layout, Windows

REVISION = 1

# Windows transformed at a time, so that spectra need little memory.
_BLOCK = 1024


class Spectral(ClassifierMixin, BaseEstimator):
    """Multinomial logistic regression on standardised features.

    Parameters
    ----------
    n_bands
        Number of octaves; fewer if windows are so short that an octave would have no frequency.
    inverse_penalty
        scikit-learn's ``C``: the smaller, the closer to zero are the weights.
    max_iterations
        Steps of L-BFGS after which the weights are taken as they are.
    random_state
        Accepted, as by all estimators; L-BFGS draws nothing.
    """

    window_layout: ClassVar[Layout] = "windows"

    def __init__(
        self,
        *,
        n_bands: int = 6,
        inverse_penalty: float = 1.0,
        max_iterations: int = 1000,
        random_state: int | None = None,
    ) -> None:
        self.n_bands = n_bands
        self.inverse_penalty = inverse_penalty
        self.max_iterations = max_iterations
        self.random_state = random_state

    def fit(self, X: Windows, y: Labels) -> Self:
        """Fit windows ``(n_windows, n_channels, n_times)`` and their labels."""
        levels, powers = describe(X, self.n_bands)
        self.floors_ = _smallest_positive(powers)
        self.pipeline_: Pipeline = make_pipeline(
            StandardScaler(), LogisticRegression(C=self.inverse_penalty, max_iter=self.max_iterations)
        )
        self.pipeline_.fit(self._features(levels, powers), y)
        self.classes_ = self.pipeline_.classes_
        return self

    def predict_proba(self, X: Windows) -> NDArray[np.floating]:
        """Return the probabilities of the classes, ``(n_windows, n_classes)``."""
        return self.pipeline_.predict_proba(self._features(*describe(X, self.n_bands)))

    def predict(self, X: Windows) -> Labels:
        """Return the class of each window."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _features(self, levels: NDArray[np.float64], powers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return levels and the logarithms of powers, the latter no smaller than any positive one in training."""
        return np.hstack([levels, np.log(np.maximum(powers, self.floors_))])


def describe(windows: Windows, n_bands: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return levels ``(n_windows, n_channels)`` and powers ``(n_windows, n_channels * (1 + n_bands))``.

    The powers of a channel are its variance and the power in each octave, from the highest down; the latter are sums
    over the bins of a periodogram with a Hann window, without the level, so that together they are about the variance.
    """
    n_windows, n_channels, n_times = windows.shape
    bands = octaves(n_times, n_bands)
    taper = hann(n_times, sym=False)
    levels = np.empty((n_windows, n_channels))
    powers = np.empty((n_windows, n_channels, 1 + len(bands)))
    for start in range(0, n_windows, _BLOCK):
        block = windows[start : start + _BLOCK].astype(np.float64)
        mean = block.mean(axis=-1, keepdims=True)
        # The 2 stands for the negative frequencies.
        spectrum = 2 * np.abs(np.fft.rfft((block - mean) * taper)) ** 2 / (n_times * np.square(taper).sum())
        levels[start : start + _BLOCK] = mean[..., 0]
        powers[start : start + _BLOCK, :, 0] = block.var(axis=-1)
        for band, bins in enumerate(bands, start=1):
            powers[start : start + _BLOCK, :, band] = spectrum[..., bins].sum(axis=-1)
    return levels, powers.reshape(n_windows, -1)


def octaves(n_times: int, n_bands: int) -> list[slice]:
    """Return the bins of a real spectrum in each octave, from the highest down; the last octave has all the rest.

    There are fewer than asked for where an octave would be empty.
    """
    last = n_times // 2
    bands: list[slice] = []
    for _ in range(n_bands - 1):
        if last // 2 < 1:
            break
        bands.append(slice(last // 2 + 1, last + 1))
        last //= 2
    return [*bands, slice(0, last + 1)]


def _smallest_positive(powers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the smallest positive number of each column, 1 where there is none."""
    smallest = np.where(powers > 0, powers, np.inf).min(axis=0)
    return np.where(np.isfinite(smallest), smallest, 1.0)
