"""MiniRocket: shares of positive values of 84 fixed, dilated convolutions, and ridge regression on them.

Dempster, Schmidt & Webb, MiniRocket: A Very Fast (Almost) Deterministic Transform for Time Series Classification,
KDD 2021, arXiv 2012.08791; what the paper leaves open as in its code, angus924/minirocket at d11d061: several channels
(`_draw_channels`), the padding's turns, and biases from zero-padded outputs even where the output is not padded.
Ridge regression chooses its penalty by leave-one-out cross-validation on the training windows, of which it holds the
features several times in double precision: 1.9 GB for 5,534 windows.
"""
# ruff: noqa: N803 - X is scikit-learn's name

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import RidgeClassifierCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from bench.errors import ModelError
from bench.estimators.contract import Labels, Layout, Windows

REVISION = 1

LENGTH = 9
KERNELS = tuple(combinations(range(LENGTH), 3))
"""Which three of the nine weights are 2; the others are -1, so that a constant is mapped to 0."""

GOLDEN_RATIO = (5**0.5 + 1) / 2
MAX_CHANNELS = 9
PENALTIES = np.logspace(-3, 3, 10)
# Windows transformed at a time.
_BLOCK = 512
# The most ones that a byte can count.
_BYTE = 255


class MiniRocket(ClassifierMixin, BaseEstimator):
    """Ridge regression on standardised features.

    Parameters
    ----------
    n_features
        Rounded down to a multiple of 84, at least 84: 10,000 gives 9,996.
    max_dilations
        Largest number of dilations of each kernel.
    random_state
        Draws channels, and the training windows that the biases are taken from.
    """

    window_layout: ClassVar[Layout] = "windows"

    def __init__(
        self, *, n_features: int = 10_000, max_dilations: int = 32, random_state: int | None = None
    ) -> None:
        self.n_features = n_features
        self.max_dilations = max_dilations
        self.random_state = random_state

    def fit(self, X: Windows, y: Labels) -> Self:
        """Fit windows ``(n_windows, n_channels, n_times)`` and their labels.

        Raises
        ------
        ModelError
            Windows shorter than a kernel, or fewer features than kernels are asked for.
        """
        generator = np.random.default_rng(self.random_state)
        self.convolutions_ = draw_convolutions(X, self.n_features, self.max_dilations, generator)
        self.ridge_: Pipeline = make_pipeline(StandardScaler(copy=False), RidgeClassifierCV(PENALTIES))
        self.ridge_.fit(transform(X, self.convolutions_), y)
        self.classes_ = self.ridge_.classes_
        return self

    def decision_function(self, X: Windows) -> NDArray[np.floating]:
        """Return ridge regression's values: one for each window where there are two classes, else one a class."""
        return self.ridge_.decision_function(transform(X, self.convolutions_))

    def predict(self, X: Windows) -> Labels:
        """Return the class of each window."""
        return self.ridge_.predict(transform(X, self.convolutions_))


@dataclass(frozen=True)
class Convolution:
    """One kernel at one dilation over the sum of some channels, with the biases that its output is compared to."""

    kernel: tuple[int, ...]
    dilation: int
    channels: tuple[int, ...]
    padded: bool
    biases: NDArray[np.float32]


def transform(windows: Windows, convolutions: list[Convolution]) -> NDArray[np.float32]:
    """Return the shares of outputs above each bias, ``(n_windows, n_features)``."""
    features = np.empty(
        (len(windows), sum(len(convolution.biases) for convolution in convolutions)), np.float32
    )
    for start in range(0, len(windows), _BLOCK):
        # (n_channels, n_times, n_windows): sums over time then add whole rows of windows.
        series = np.ascontiguousarray(windows[start : start + _BLOCK].transpose(1, 2, 0))
        column = 0
        for convolution in convolutions:
            shares = shares_above(_output(series, convolution), convolution.biases)
            features[start : start + _BLOCK, column : column + len(shares)] = shares.T
            column += len(shares)
    return features


def convolve(series: NDArray[np.float32], kernel: tuple[int, ...], dilation: int) -> NDArray[np.float32]:
    """Convolve along the first axis, without padding: ``(n_times, ...)`` to ``(n_times - 8 * dilation, ...)``."""
    n_outputs = len(series) - (LENGTH - 1) * dilation
    taps = [series[tap * dilation : tap * dilation + n_outputs] for tap in range(LENGTH)]
    output = taps[kernel[0]] + taps[kernel[1]] + taps[kernel[2]]
    output *= 3
    for tap in taps:
        output -= tap
    return output


def shares_above(output: NDArray[np.float32], biases: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the share of outputs ``(n_outputs, n_windows)`` above each bias, ``(n_biases, n_windows)``."""
    counts = np.zeros((len(biases), output.shape[1]), np.float32)
    # Adding bytes, as many as one byte can count, is several times faster than adding larger integers.
    for start in range(0, len(output), _BYTE):
        stretch = output[start : start + _BYTE]
        for count, bias in zip(counts, biases, strict=True):
            count += np.add.reduce((stretch > bias).view(np.uint8), axis=0, dtype=np.uint8)
    return counts / np.float32(len(output))


def draw_convolutions(
    windows: Windows, n_features: int, max_dilations: int, generator: np.random.Generator
) -> list[Convolution]:
    """Draw channels for all kernels at all dilations, and biases from one training window for each.

    Quantiles follow a low-discrepancy sequence: multiples of the golden ratio, modulo 1.

    Raises
    ------
    ModelError
        Windows shorter than a kernel, or fewer features than kernels are asked for.
    """
    n_windows, n_channels, n_times = windows.shape
    dilations = spread_dilations(n_times, n_features, max_dilations)
    convolutions: list[Convolution] = []
    position = 1
    for order, (dilation, n_biases) in enumerate(dilations.items()):
        for index, kernel in enumerate(KERNELS):
            channels = _draw_channels(n_channels, generator)
            window = windows[generator.integers(n_windows), list(channels)].sum(axis=0)
            output = convolve(np.pad(window, (LENGTH - 1) // 2 * dilation), kernel, dilation)
            quantiles = np.arange(position, position + n_biases) * GOLDEN_RATIO % 1
            biases = np.quantile(output, quantiles).astype(np.float32)
            convolutions.append(Convolution(kernel, dilation, channels, (order + index) % 2 == 0, biases))
            position += n_biases
    return convolutions


def spread_dilations(n_times: int, n_features: int, max_dilations: int) -> dict[int, int]:
    """Return dilations in ascending order, with the number of features that each kernel has at each.

    Dilations are the whole parts of an even grid of exponents, up to the largest whose kernel fits the window.

    Raises
    ------
    ModelError
        Windows shorter than a kernel, or fewer features than kernels are asked for.
    """
    if n_times < LENGTH:
        raise ModelError(f"minirocket: windows of {n_times} steps are shorter than its kernels of {LENGTH}")
    per_kernel = n_features // len(KERNELS)
    if per_kernel < 1:
        raise ModelError(
            f"minirocket: n_features is {n_features}; give at least {len(KERNELS)}, one for each kernel"
        )
    n_exponents = min(per_kernel, max_dilations)
    exponents = np.linspace(0, np.log2((n_times - 1) / (LENGTH - 1)), n_exponents)
    dilations, repeats = np.unique((2**exponents).astype(int), return_counts=True)
    counts = (repeats * (per_kernel / n_exponents)).astype(int)
    # The remainder from rounding goes to the smallest dilations, in turns.
    for turn in range(per_kernel - int(counts.sum())):
        counts[turn % len(counts)] += 1
    return dict(zip(dilations.tolist(), counts.tolist(), strict=True))


def _draw_channels(n_channels: int, generator: np.random.Generator) -> tuple[int, ...]:
    """Draw some channels without replacement; the logarithm of how many, at most nine, is uniform."""
    n_drawn = int(2 ** generator.uniform(0, np.log2(min(n_channels, MAX_CHANNELS) + 1)))
    return tuple(generator.choice(n_channels, n_drawn, replace=False).tolist())


def _output(series: NDArray[np.float32], convolution: Convolution) -> NDArray[np.float32]:
    """Return one convolution of ``(n_channels, n_times, n_windows)``: ``(n_outputs, n_windows)``."""
    # A convolution of a sum is the sum of the convolutions.
    first, *others = convolution.channels
    total = series[first].copy() if others else series[first]
    for channel in others:
        total += series[channel]
    if convolution.padded:
        total = np.pad(total, (((LENGTH - 1) // 2 * convolution.dilation,) * 2, (0, 0)))
    return convolve(total, convolution.kernel, convolution.dilation)
