"""How centralized multichannel signals are: the spectral and the dynamic index, under every reading of the paper.

Source: MedMamba paper, section "Centralization Analysis of Medical Time Series". It does not say whether the indices
are computed on windows or on recordings, nor with which scaling; its text names an autoregression, its formula is
a product.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import datasets
from bench.analyses.centralization.moments import (
    Floats,
    Moments,
    centred,
    joined,
    moments,
    pooled,
    rows_of,
    standardised,
    standardised_by,
)
from bench.analyses.centralization.record import (
    CentralizationRecord,
    Choice,
    Measure,
    Options,
    Reading,
    Scaling,
    Unit,
)
from bench.analyses.context import Context
from bench.datasets import weather
from bench.datasets.cache.entry import dataset_folder
from bench.datasets.simulate.cohort import demo_root, ensure_demo
from bench.datasets.unscaled import RecordingScale, recording_scale
from bench.errors import DataError, UsageError
from bench.files import sha256_of
from bench.plan.select import parse_names

WEATHER = "weather"
ROWS_PER_WEEK = 7 * 24 * 6
LEVEL = 0.95
N_RESAMPLES = 2000
WINDOWS_AT_ONCE = 4096
_RANK_TOLERANCE = 1e-8


def run(context: Context, options: Options) -> None:
    """Measure every dataset asked for; datasets of ``all`` that are absent are skipped and named.

    Raises
    ------
    DataError
        A dataset asked for by name cannot be used, or there is none at all.
    """
    root = context.data or (demo_root() if options.simulated else context.default_data)
    datasets.register_imported(root)
    names = parse_names("dataset", options.datasets, datasets.names(), datasets.names())
    if options.simulated and options.datasets == "all":
        names.remove(WEATHER)
    n_measured = 0
    for name in names:
        if options.simulated and context.data is None:
            ensure_demo(name)
        try:
            record = _measured(name, root, options)
        except DataError as error:
            if options.datasets != "all":
                raise
            context.say(f"left out: {name}: {error}")
            continue
        n_measured += 1
        context.say(f"measured {name}: {record.n_windows} windows")
        context.write(record)
    if not n_measured:
        raise DataError(f"{root}: none of {', '.join(names)} is there; give their folder with --data")


def _measured(name: str, root: Path, options: Options) -> CentralizationRecord:
    if name == WEATHER:
        return run_weather(root, options.seed, options.weather_window)
    return run_dataset(name, root, options.seed)


def spectral_centralization(unit: Moments) -> Floats:
    """Return SCI(X) = lambda_max(Sigma) / Tr(Sigma) of each unit ``(n,)``.

    Sigma = (X - mean)(X - mean)' / (T - 1); NaN where no channel varies. One channel gives 1, any number at
    least 1 / n_channels.
    """
    zero_mean = centred(unit)
    # Rounding leaves a constant channel a tiny variance: it counts as zero.
    varies = ~unit.is_constant
    covariance = zero_mean.second * varies[:, :, None] * varies[:, None, :]
    covariance /= (unit.n_times - 1)[:, None, None]
    trace = np.einsum("nii->n", covariance)
    largest = np.asarray(np.linalg.eigvalsh(covariance)[:, -1], dtype=np.float64)
    return _ratio(largest, trace)


def dynamic_centralization(transition: Floats) -> Floats:
    """Return DIC = (max_i s_i - mean s) / mean s of transition matrices ``(n, n_channels, n_channels)``.

    s_i = sum_j |A_ji| is the outgoing influence of channel i; NaN where A is zero. One channel gives 0.
    """
    outgoing = np.abs(transition).sum(axis=1)
    mean = outgoing.mean(axis=1)
    return _ratio(outgoing.max(axis=1) - mean, mean)


def printed_transition(unit: Moments) -> Floats:
    """Return A = Y Z' with Z = [x_1 .. x_{T-1}], Y = [x_2 .. x_T], as the paper prints it."""
    return unit.lagged


def fitted_transition(unit: Moments) -> Floats:
    """Return A = Y Z' (Z Z')^+, the least-squares fit of the autoregression that the paper's text names.

    Directions with less than 1e-8 of the largest eigenvalue are left out: leads of an ECG are linear combinations
    of each other.
    """
    inverse = np.linalg.pinv(unit.early_second, rcond=_RANK_TOLERANCE, hermitian=True)
    return unit.lagged @ inverse


@dataclass(frozen=True)
class Signals:
    """Windows ``(n, n_times, n_channels)``, the recording of each, and the block that an interval resamples it with.

    ``scale`` is what whole recordings were scaled by before they were cut, None if they were not.
    """

    windows: NDArray[np.floating]
    recording: NDArray
    block: NDArray
    scale: RecordingScale | None = None

    def unscaled(self, rows: slice) -> NDArray[np.floating]:
        """Return windows in the units of their source."""
        return self.windows[rows] if self.scale is None else self.scale.undone(self.windows[rows], rows)


def measure(signals: Signals, rng: np.random.Generator) -> tuple[Measure, ...]:
    """Return both indices under every choice of unit, scaling and reading.

    A recording is all its windows: their steps share one mean and one deviation. ``raw`` is as cut, ``unscaled`` in
    the source's units, ``standardised`` the z-score of each channel over the unit; a window may be standardised over
    its recording too.
    """
    _, first, of_recording = np.unique(signals.recording, return_index=True, return_inverse=True)
    parts = [
        slice(start, start + WINDOWS_AT_ONCE) for start in range(0, len(signals.windows), WINDOWS_AT_ONCE)
    ]
    # The windows' moments may take gigabytes, so they are computed again instead of kept.
    whole = _pooled_parts(lambda rows: moments(signals.windows[rows]), parts, of_recording)
    wholes: dict[Scaling, Moments] = {"raw": whole, "standardised": standardised(whole)}
    if signals.scale is not None:
        wholes["unscaled"] = _pooled_parts(lambda rows: moments(signals.unscaled(rows)), parts, of_recording)
    of_windows: dict[Choice, list[Floats]] = {}
    for rows in parts:
        windows = moments(signals.windows[rows])
        scalings: dict[Scaling, Moments] = {
            "raw": windows,
            "standardised": standardised(windows),
            "standardised over the recording": standardised_by(windows, rows_of(whole, of_recording[rows])),
        }
        if signals.scale is not None:
            scalings["unscaled"] = moments(signals.unscaled(rows))
        for choice, values in _indices("window", scalings):
            of_windows.setdefault(choice, []).append(values)
    found = [
        *(_summary(choice, np.concatenate(of), signals.block, rng) for choice, of in of_windows.items()),
        *(_summary(choice, of, signals.block[first], rng) for choice, of in _indices("recording", wholes)),
    ]
    known = [summary for summary in found if summary is not None]
    return (*known, *(_as_unscaled(known) if signals.scale is None else ()))


def _pooled_parts(
    moments_of: Callable[[slice], Moments], parts: Sequence[slice], of_recording: NDArray[np.intp]
) -> Moments:
    """Return the moments of recordings, in the order of their numbers, from those of windows, part by part."""
    recordings = [pooled(moments_of(rows), of_recording[rows]) for rows in parts]
    return pooled(joined(recordings), np.concatenate([np.unique(of_recording[rows]) for rows in parts]))


def _as_unscaled(measures: Sequence[Measure]) -> Iterator[Measure]:
    """Yield what was measured as cut once more as unscaled: no recording was scaled before it was cut."""
    for of_raw in measures:
        if of_raw.choice.scaling == "raw":
            choice = of_raw.choice.model_copy(update={"scaling": "unscaled"})
            yield of_raw.model_copy(update={"choice": choice})


def run_dataset(name: str, root: Path, seed: int) -> CentralizationRecord:
    """Measure a dataset with classes on its windows as cut.

    Raises
    ------
    DataError
        The dataset is missing or unusable.
    """
    loaded = datasets.load(name, root, normalise=False)
    recording = np.char.add(np.char.add(loaded.subject, "/"), loaded.record)
    signals = Signals(loaded.windows, recording, loaded.subject, recording_scale(root, loaded))
    return CentralizationRecord(
        dataset=name,
        title=loaded.facts.title,
        kind=loaded.provenance.kind,
        version=loaded.provenance.version,
        fingerprint=loaded.fingerprint,
        n_channels=loaded.facts.n_channels,
        n_times=loaded.facts.n_times,
        n_windows=len(loaded.windows),
        n_recordings=len(np.unique(recording)),
        blocks="subjects",
        n_blocks=len(np.unique(loaded.subject)),
        level=LEVEL,
        n_resamples=N_RESAMPLES,
        seed=seed,
        measures=measure(signals, np.random.default_rng(seed)),
        remarks=_remarks(
            loaded.facts.n_channels,
            len(np.unique(recording)) == len(loaded.windows),
            loaded.provenance.n_skipped,
        ),
    )


def _remarks(n_channels: int, is_a_window_a_recording: bool, n_skipped: int) -> tuple[str, ...]:
    remarks = [f"{n_skipped} damaged records are left out"] if n_skipped else []
    if n_channels == 1:
        remarks.append("one channel: SCI is 1 and DIC is 0 whatever the signal is")
    if is_a_window_a_recording:
        remarks.append("the source names no recordings: each window stands for its own")
    return tuple(remarks)


def run_weather(root: Path, seed: int, n_times: int) -> CentralizationRecord:
    """Measure Weather: the whole series as one recording, and windows of ``n_times`` steps that do not overlap.

    The steps after the last whole window are left out of both.

    Raises
    ------
    DataError
        The file is missing or unusable.
    UsageError
        The series is shorter than a window.
    """
    folder = dataset_folder(WEATHER, root)
    series = weather.series(folder)
    n_windows = len(series.values) // n_times
    if not n_windows:
        raise UsageError(f"--weather-window {n_times}: the series has {len(series.values)} steps; use fewer")
    windows = series.values[: n_windows * n_times].reshape(n_windows, n_times, -1)
    week = np.arange(n_windows) * n_times // ROWS_PER_WEEK
    signals = Signals(windows, np.zeros(n_windows, dtype=np.int64), week)
    return CentralizationRecord(
        dataset=WEATHER,
        title=weather.FACTS.title,
        kind="whole" if series.n_rows_in_file == weather.N_ROWS else "excerpt",
        version=weather.FACTS.version,
        fingerprint=sha256_of(folder / weather.FILE_NAME),
        n_channels=windows.shape[2],
        n_times=n_times,
        n_windows=n_windows,
        n_recordings=1,
        blocks="weeks",
        n_blocks=len(np.unique(week)),
        level=LEVEL,
        n_resamples=N_RESAMPLES,
        seed=seed,
        measures=measure(signals, np.random.default_rng(seed)),
        remarks=series.mended,
    )


def _indices(unit: Unit, scalings: Mapping[Scaling, Moments]) -> Iterator[tuple[Choice, Floats]]:
    for scaling, units in scalings.items():
        choice = Choice(index="sci", unit=unit, scaling=scaling, reading="as printed")
        yield choice, spectral_centralization(units)
    for scaling, units in scalings.items():
        # Standardising over the unit itself removes the mean already.
        has_mean = scaling != "standardised"
        zero_mean = centred(units) if has_mean else units
        transitions: dict[Reading, Floats] = {"as printed": printed_transition(units)}
        if has_mean:
            transitions["mean removed"] = printed_transition(zero_mean)
        transitions["least squares"] = fitted_transition(zero_mean)
        for reading, transition in transitions.items():
            choice = Choice(index="dic", unit=unit, scaling=scaling, reading=reading)
            yield choice, dynamic_centralization(transition)


def _summary(choice: Choice, values: Floats, block: NDArray, rng: np.random.Generator) -> Measure | None:
    defined = np.isfinite(values)
    if not defined.any():
        return None
    known = values[defined]
    low, high = mean_interval(known, block[defined], rng)
    return Measure(
        choice=choice,
        mean=float(known.mean()),
        std=float(known.std(ddof=1)) if len(known) > 1 else None,
        low=low,
        high=high,
        n_units=len(known),
        n_undefined=int((~defined).sum()),
    )


def mean_interval(
    values: Floats, block: NDArray, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    """Return the percentile interval of a mean, whole blocks drawn with replacement; None with fewer than two."""
    _, codes = np.unique(block, return_inverse=True)
    totals, counts = np.bincount(codes, weights=values), np.bincount(codes).astype(np.float64)
    n_blocks = len(counts)
    if n_blocks < 2:
        return None, None
    means = np.empty(N_RESAMPLES)
    for draw in range(N_RESAMPLES):
        chosen = rng.integers(n_blocks, size=n_blocks)
        means[draw] = totals[chosen].sum() / counts[chosen].sum()
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    result = np.full(len(denominator), np.nan)
    return np.divide(numerator, denominator, out=result, where=denominator > 0)
