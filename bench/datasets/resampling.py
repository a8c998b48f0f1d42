"""Linear interpolation in time, as the published preprocessing of the ECG and EEG datasets downsamples."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def resample_linear(signal: ArrayLike, n_out: int) -> NDArray[np.float64]:
    """Interpolate a signal linearly at points spread evenly from its first to its last sample.

    The first and last sample are kept exactly. No filter is applied before: the published windows have none.

    Parameters
    ----------
    signal
        ``(n_times, n_channels)``, any real type.
    n_out
        Number of points wanted, at least 2.

    Returns
    -------
    NDArray[np.float64]
        ``(n_out, n_channels)``.
    """
    signal = np.asarray(signal, dtype=np.float64)
    assert signal.ndim == 2, f"signal must be (n_times, n_channels), not {signal.shape}"
    assert min(len(signal), n_out) >= 2, f"cannot interpolate {len(signal)} samples to {n_out}"
    last = len(signal) - 1
    position = np.linspace(0.0, last, n_out)
    left = np.minimum(position.astype(np.int64), last - 1)
    weight = (position - left)[:, None]
    return signal[left] * (1.0 - weight) + signal[left + 1] * weight
