"""Simulated EEG: classes can be learned, not perfectly, and a split by window instead of by subject deceives."""

import importlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.datasets.simulate.eeg import band_noise, pink_noise
from bench.datasets.simulate.subjects import class_counts
from bench.errors import UsageError

EDGES_HZ = (0.5, 2.0, 4.0, 6.0, 8.0, 9.5, 11.0, 13.0, 16.0, 30.0, 50.0)
Cohort = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.str_]]


def log_band_power(windows: NDArray[np.float32], rate_hz: float) -> NDArray[np.float64]:
    """Features of a linear model: power of each channel in ten bands, blind to amplitude."""
    n_times = windows.shape[1]
    scaled = (windows - windows.mean(1, keepdims=True)) / windows.std(1, keepdims=True)
    power = np.abs(np.fft.rfft(scaled * np.hanning(n_times)[:, None], axis=1)) ** 2
    edges = np.ceil(np.array(EDGES_HZ) * n_times / rate_hz).astype(int)
    bands = [power[:, low:high].sum(1) for low, high in pairwise(edges)]
    return np.log(np.concatenate(bands, axis=1) + 1e-6)


@pytest.fixture(scope="module")
def cohort(simulated: Callable[[str], Path]) -> Callable[[str], Cohort]:
    def read(name: str) -> Cohort:
        reader = importlib.import_module(f"bench.datasets.{name.replace('-', '_')}")
        folder = simulated(name) / name
        cuts = [reader.cut(folder, record) for record in reader.records(folder).records]
        features = log_band_power(
            np.concatenate([cut.windows for cut in cuts]), reader.FACTS.sampling_rate_hz
        )
        return (
            features,
            np.concatenate([cut.labels for cut in cuts]),
            np.concatenate([cut.subject for cut in cuts]),
        )

    return read


def score(cohort: Cohort, *, by_subject: bool) -> float:
    """Return the balanced accuracy of logistic regression in four folds of subjects, or of windows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features, labels, subjects = cohort
    if by_subject:
        folds = StratifiedGroupKFold(4, shuffle=True, random_state=0).split(features, labels, subjects)
    else:
        folds = StratifiedKFold(4, shuffle=True, random_state=0).split(features, labels)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.02, max_iter=500))
    return float(cross_val_score(model, features, labels, cv=list(folds), scoring="balanced_accuracy").mean())


@pytest.mark.parametrize(
    ("name", "above", "below"), [("adftd", 0.45, 0.9), ("apava", 0.65, 0.98), ("sleep-edf", 0.4, 0.85)]
)
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")  # scikit-learn 1.5
def test_linear_model_is_above_chance_and_below_perfect(
    name: str, above: float, below: float, cohort: Callable[[str], Cohort]
) -> None:
    assert above < score(cohort(name), by_subject=True) < below


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")  # scikit-learn 1.5
def test_split_by_window_inflates_the_score(cohort: Callable[[str], Cohort]) -> None:
    windows = cohort("adftd")
    assert score(windows, by_subject=False) > score(windows, by_subject=True) + 0.1


def test_band_noise_lies_in_its_band() -> None:
    signal = band_noise(np.random.default_rng(0), (20_000, 3), 100.0, 10.0, 1.0)
    power = np.abs(np.fft.rfft(signal, axis=0)) ** 2
    centre_hz = (np.arange(len(power))[:, None] * power).sum(0) / power.sum(0) / 200.0
    np.testing.assert_allclose(centre_hz, 10.0, atol=0.2)
    np.testing.assert_allclose(np.sqrt((signal**2).mean(0)), 1.0)


def test_pink_noise_falls_with_its_slope() -> None:
    signal = pink_noise(np.random.default_rng(0), (100_000, 4), 100.0, 1.5)
    power = (np.abs(np.fft.rfft(signal, axis=0)) ** 2).mean(1)
    frequency_hz = np.fft.rfftfreq(100_000, 0.01)
    fitted = slice(1_000, 40_000)
    slope = np.polyfit(np.log(frequency_hz[fitted]), np.log(power[fitted]), 1)[0]
    assert slope == pytest.approx(-1.5, abs=0.1)


@pytest.mark.parametrize("n_subjects", [13, 40, 88, 101])
def test_classes_are_shared_in_the_published_proportion(n_subjects: int) -> None:
    published = np.array([36, 29, 23])
    counts = np.array(class_counts(n_subjects, published.tolist()))
    assert counts.sum() == n_subjects
    assert np.abs(counts - published * n_subjects / 88).max() < 1


def test_too_few_subjects_are_refused_with_the_least_number() -> None:
    with pytest.raises(UsageError, match=r"give a class 3 of them and 4 are needed; simulate at least 13"):
        class_counts(12, [36, 29, 23])
    assert min(class_counts(13, [36, 29, 23])) == 4
