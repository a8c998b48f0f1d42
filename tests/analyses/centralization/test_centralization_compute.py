"""SCI and DIC against values computed by hand, their bounds, and the analysis on real excerpts."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.analyses.centralization.compute import (
    Signals,
    dynamic_centralization,
    fitted_transition,
    mean_interval,
    measure,
    printed_transition,
    run_dataset,
    run_weather,
    spectral_centralization,
)
from bench.analyses.centralization.moments import moments
from bench.analyses.centralization.record import CentralizationRecord, Choice
from bench.datasets.unscaled import RecordingScale
from bench.errors import UsageError


def mean_of(record: CentralizationRecord, **choice: str) -> float:
    found = record.measure(Choice.model_validate(choice))
    assert found is not None
    return found.mean


def test_sci_of_two_channels_by_hand() -> None:
    # Deviations (-1, 0, 1) and (-2, 0, 2): covariance [[1, 2], [2, 4]], of rank one.
    x = np.array([[[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]]])
    assert spectral_centralization(moments(x)) == pytest.approx([1.0])


def test_sci_of_uncorrelated_channels_by_hand() -> None:
    # Variances 4/3 and 12, no covariance: 12 / (12 + 4/3) = 0.9.
    x = np.array([[[1.0, 3.0], [1.0, -3.0], [-1.0, 3.0], [-1.0, -3.0]]])
    assert spectral_centralization(moments(x)) == pytest.approx([0.9])


def test_sci_ignores_a_constant_channel() -> None:
    x = np.array([[[1.0, 1e6, 3.0], [1.0, 1e6, -3.0], [-1.0, 1e6, 3.0], [-1.0, 1e6, -3.0]]])
    assert spectral_centralization(moments(x)) == pytest.approx([0.9])


def test_sci_of_a_window_without_variance_does_not_exist() -> None:
    assert np.isnan(spectral_centralization(moments(np.full((1, 4, 2), 0.1)))).all()


def test_dic_by_hand() -> None:
    # Columns of |A| sum to 4 and 2; mean 3, so (4 - 3) / 3.
    assert dynamic_centralization(np.array([[[3.0, -1.0], [-1.0, 1.0]]])) == pytest.approx([1 / 3])


def test_dic_is_of_what_goes_out_of_a_channel() -> None:
    # Channel 0 drives both, channel 1 nothing: s = (2, 0). By rows it would be equal.
    assert dynamic_centralization(np.array([[[1.0, 0.0], [1.0, 0.0]]])) == pytest.approx([1.0])


def test_printed_transition_is_a_product_by_hand() -> None:
    x = np.array([[[1.0, 0.0], [2.0, 1.0], [4.0, 0.0]]])
    assert printed_transition(moments(x))[0].tolist() == [[10, 4], [1, 0]]
    assert dynamic_centralization(printed_transition(moments(x))) == pytest.approx([11 / 7.5 - 1])


def test_fitted_transition_finds_the_autoregression() -> None:
    matrix = np.array([[0.9, 0.2], [-0.1, 0.7]])
    x = [np.array([1.0, -2.0])]
    for _ in range(20):
        x.append(matrix @ x[-1])
    np.testing.assert_allclose(fitted_transition(moments(np.array([x])))[0], matrix, atol=1e-8)


def test_fitted_transition_survives_dependent_channels() -> None:
    x = np.random.default_rng(0).normal(size=(1, 50, 2))
    dependent = np.concatenate([x, x.sum(axis=2, keepdims=True)], axis=2)
    assert np.abs(fitted_transition(moments(dependent))).max() < 1


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_sci_is_between_the_share_of_a_channel_and_one(seed: int, n_channels: int) -> None:
    x = np.random.default_rng(seed).normal(size=(3, 20, n_channels))
    found = spectral_centralization(moments(x))
    assert (found >= 1 / n_channels - 1e-12).all()
    assert (found <= 1 + 1e-12).all()


@given(st.integers(0, 10_000))
def test_one_channel_has_sci_one_and_dic_zero(seed: int) -> None:
    x = moments(np.random.default_rng(seed).normal(size=(2, 9, 1)))
    assert spectral_centralization(x) == pytest.approx([1, 1])
    assert dynamic_centralization(printed_transition(x)) == pytest.approx([0, 0])


def test_measure_does_not_depend_on_how_many_windows_are_taken_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.random.default_rng(1).normal(size=(11, 16, 3)).astype(np.float32)
    recording = np.array(list("aaabbbbcccc"))
    at_once = measure(Signals(x, recording, recording), np.random.default_rng(5))
    monkeypatch.setattr("bench.analyses.centralization.compute.WINDOWS_AT_ONCE", 2)
    in_parts = measure(Signals(x, recording, recording), np.random.default_rng(5))
    for one, other in zip(at_once, in_parts, strict=True):
        assert one.choice == other.choice
        assert one.mean == pytest.approx(other.mean)
        assert one.n_units == other.n_units


def test_measure_counts_what_is_undefined() -> None:
    x = np.random.default_rng(1).normal(size=(4, 16, 3))
    x[2] = 0.1
    names = np.array(list("abcd"))
    first = measure(Signals(x, names, names), np.random.default_rng(5))[0]
    assert (first.n_units, first.n_undefined) == (3, 1)


def test_interval_draws_whole_blocks() -> None:
    values = np.array([0.0] * 50 + [1.0] * 50)
    few = mean_interval(values, np.repeat([0, 1], 50), np.random.default_rng(0))
    many = mean_interval(values, np.arange(100), np.random.default_rng(0))
    assert few == (0.0, 1.0)
    assert many[0] == pytest.approx(0.4, abs=0.02)


def test_interval_of_one_block_does_not_exist() -> None:
    assert mean_interval(np.ones(3), np.zeros(3), np.random.default_rng(0)) == (None, None)


def test_what_a_recording_was_scaled_by_is_undone() -> None:
    rng = np.random.default_rng(3)
    source = rng.normal(5.0, [1.0, 20.0], size=(4, 16, 2))
    mean, deviation = source.mean(axis=1), source.std(axis=1)
    names = np.array(list("abcd"))
    cut = (source - mean[:, None]) / deviation[:, None]
    scaled = measure(Signals(cut, names, names, RecordingScale(mean, deviation)), np.random.default_rng(5))
    straight = measure(Signals(source, names, names), np.random.default_rng(5))
    found, expected = (
        {one.choice: one.mean for one in measures if one.choice.scaling == "unscaled"}
        for measures in (scaled, straight)
    )
    assert found == pytest.approx(expected)
    raw = next(one.mean for one in scaled if one.choice.scaling == "raw")
    assert raw != pytest.approx(next(iter(found.values())))


def test_real_weather_under_four_choices(real: Path) -> None:
    record = run_weather(real, seed=41, n_times=96)
    assert record.kind == "whole"
    window, recording = (
        {"unit": unit, "scaling": "standardised", "reading": "as printed"} for unit in ("window", "recording")
    )
    assert mean_of(record, index="dic", **window) == pytest.approx(0.34, abs=0.005)
    assert mean_of(record, index="sci", **window) == pytest.approx(0.605, abs=0.005)
    assert mean_of(record, index="sci", **recording) == pytest.approx(0.438, abs=0.005)
    raw = {"unit": "window", "scaling": "raw", "reading": "as printed"}
    assert mean_of(record, index="sci", **raw) == pytest.approx(0.901, abs=0.005)


def test_weather_window_longer_than_the_series_is_refused(real: Path) -> None:
    with pytest.raises(UsageError, match="--weather-window 60000: the series has 52695 steps"):
        run_weather(real, seed=41, n_times=60_000)


def test_real_ptb_xl_matches_the_published_sci_by_window(real: Path, shared_cache: Path) -> None:
    record = run_dataset("ptb-xl", real, seed=41)
    choice = {"unit": "window", "scaling": "standardised", "reading": "as printed"}
    assert record.kind == "excerpt"
    assert mean_of(record, index="sci", **choice) == pytest.approx(0.657, abs=0.005)
    assert mean_of(record, index="dic", **choice) == pytest.approx(0.170, abs=0.005)
    unscaled = {"unit": "recording", "scaling": "unscaled", "reading": "as printed"}
    assert mean_of(record, index="sci", **unscaled) == pytest.approx(0.666, abs=0.005)
    assert mean_of(record, index="dic", **unscaled) == pytest.approx(1.022, abs=0.005)
    raw = {"unit": "recording", "scaling": "raw", "reading": "as printed"}
    assert mean_of(record, index="dic", **raw) == pytest.approx(0.187, abs=0.005)
    # A recording is all windows of a source record.
    assert record.n_windows == 10 * record.n_recordings
