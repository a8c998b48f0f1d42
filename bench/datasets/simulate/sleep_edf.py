"""A simulated cohort in the layout of Sleep-EDF's sleep-cassette study: recordings and hypnograms of two nights.

Stages differ as the scoring rules say (Rechtschaffen and Kales, 1968): alpha and blinks in wake, theta and rolling
eyes in stage 1, spindles and K-complexes in stage 2, delta in 3 and 4, theta and rapid eye movements in REM. Sizes
are ours. A few epochs look like another stage, as scorers disagree on real ones. So that a few steps of training find
the stages, each has a rhythm besides that starts at the same phase in each epoch; no real night has that.
"""

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.datasets.simulate.eeg import band_noise, pink_noise
from bench.datasets.simulate.marker import write_marker
from bench.datasets.simulate.shown import attainable, draw_shown
from bench.datasets.simulate.subjects import subject_generator
from bench.datasets.sleep_edf import EPOCH_S, FACTS, STUDY
from bench.errors import UsageError
from bench.files import atomic_file

if TYPE_CHECKING:
    import edfio

REVISION = 3
DEMO = {"n_subjects": 20, "seconds": 300.0}

# Subjects 00 to 15 are for training and validation, so 16 is the first for testing.
_MIN_SUBJECTS = 17
_MIN_EPOCHS = 10
_RATE_HZ = FACTS.sampling_rate_hz
# Standard deviation of the rhythm that a stage's epochs share, in microvolt.
_LOCKED_UV = 60.0
# Stages of a cycle of sleep in order, with their share of it.
_CYCLE = ((1, 0.10), (2, 0.25), (3, 0.19), (2, 0.22), (4, 0.19), (0, 0.05))
# Share of a recording before sleep and after it.
_AWAKE = (0.12, 0.08)
_UNSCORED_TAIL_S = 120


@dataclass(frozen=True, kw_only=True)
class _Look:
    """How a stage looks: rhythms as standard deviations in microvolt, events as expected number per epoch.

    ``locked_hz`` is a whole number of periods per epoch.
    """

    locked_hz: float
    delta_uv: float
    theta_uv: float
    alpha_uv: float
    beta_uv: float
    spindles: float = 0.0
    k_complexes: float = 0.0
    rolling_eyes: float = 0.0
    rapid_eyes: float = 0.0


_LOOKS = (
    _Look(locked_hz=10.0, delta_uv=7, theta_uv=5, alpha_uv=10, beta_uv=5, rapid_eyes=2),
    _Look(locked_hz=5.0, delta_uv=9, theta_uv=9, alpha_uv=5, beta_uv=3, rolling_eyes=2, spindles=0.2),
    _Look(locked_hz=2.0, delta_uv=15, theta_uv=9, alpha_uv=3, beta_uv=2, spindles=3.5, k_complexes=1.5),
    _Look(locked_hz=1.0, delta_uv=33, theta_uv=10, alpha_uv=2, beta_uv=2, spindles=1, k_complexes=1),
    _Look(locked_hz=4.0, delta_uv=8, theta_uv=10, alpha_uv=4, beta_uv=3, rapid_eyes=3),
)


@dataclass(frozen=True)
class _Person:
    """What is a sleeper's own, in both nights."""

    amplitude: float
    slope: float
    alpha_hz: float
    spindle_hz: float
    rhythms: NDArray[np.float64]
    locked: float


def simulate(folder: Path, *, n_subjects: int, seconds: float, seed: int) -> None:
    """Write two nights each of subjects 00 on: ``SC4ssNE0-PSG.edf`` and a hypnogram with a scorer's letter.

    Parameters
    ----------
    folder
        The dataset's folder, made when it is missing.
    n_subjects
        17 to 20.
    seconds
        Length of each recording, cut to whole epochs of 30 s; at least 300.
    seed
        Equal seeds give equal bytes.

    Raises
    ------
    UsageError
        The split cannot be made of so few subjects, there are more than published, or the night is too short.
    """
    if not _MIN_SUBJECTS <= n_subjects <= FACTS.n_subjects:
        raise UsageError(
            f"{n_subjects} subjects: the split is by fixed numbers, so simulate {_MIN_SUBJECTS} to {FACTS.n_subjects}"
        )
    n_epochs = int(seconds // EPOCH_S)
    if n_epochs < _MIN_EPOCHS:
        raise UsageError(
            f"nights of {seconds:g} s are too short for all stages; simulate at least {_MIN_EPOCHS * EPOCH_S} s"
        )
    write_marker(
        folder,
        simulator="sleep-edf",
        revision=REVISION,
        seed=seed,
        n_subjects=n_subjects,
        seconds=seconds,
        **attainable(_stage_shares()),
    )
    for subject in range(n_subjects):
        person = _draw_person(subject_generator(seed, subject))
        for night in (1, 2):
            generator = subject_generator(seed, subject, night)
            stages = draw_night(generator, n_epochs)
            stem = f"SC4{subject:02d}{night}E"
            letter = generator.choice(list("CHJMPVW"))
            _write_psg(folder / STUDY / f"{stem}0-PSG.edf", generator, person, stages)
            _write_hypnogram(folder / STUDY / f"{stem}{letter}-Hypnogram.edf", generator, stages)


def _stage_shares() -> list[float]:
    """Return the expected share of each stage in a long night, in label order."""
    shares = [0.0] * FACTS.n_classes
    shares[0] = sum(_AWAKE)
    for stage, share in _CYCLE:
        shares[stage] += share * (1.0 - sum(_AWAKE))
    return shares


def draw_night(generator: np.random.Generator, n_epochs: int) -> NDArray[np.int64]:
    """Return the stage of each epoch, labels as in ``FACTS``: wake, cycles of about 90 minutes, wake."""
    n_before, n_after = (max(1, round(share * n_epochs)) for share in _AWAKE)
    n_asleep = n_epochs - n_before - n_after
    n_cycles = max(1, round(n_asleep / 180))
    parts = [np.zeros(n_before, dtype=np.int64)]
    for n_in_cycle in np.diff(np.linspace(0, n_asleep, n_cycles + 1).astype(int)):
        share = np.array([part for _, part in _CYCLE]) * generator.uniform(0.8, 1.2, len(_CYCLE))
        # One epoch for each part of the cycle, the others by their shares.
        bounds = np.round(np.cumsum(share / share.sum()) * (n_in_cycle - len(_CYCLE))).astype(int)
        lengths = 1 + np.diff(bounds, prepend=0)
        parts.append(np.repeat([stage for stage, _ in _CYCLE], lengths))
    return np.concatenate([*parts, np.zeros(n_after, dtype=np.int64)])


def _draw_person(generator: np.random.Generator) -> _Person:
    return _Person(
        amplitude=generator.lognormal(0.0, 0.25),
        slope=generator.normal(1.1, 0.15),
        alpha_hz=generator.normal(9.8, 0.8),
        spindle_hz=generator.normal(13.0, 0.5),
        rhythms=generator.lognormal(0.0, 0.3, 4),
        locked=generator.lognormal(0.0, 0.2),
    )


def _epoch(generator: np.random.Generator, person: _Person, look: _Look) -> NDArray[np.float64]:
    """Return 30 seconds of Fpz-Cz in microvolt."""
    shape = (FACTS.n_times, 1)
    sizes = np.array([look.delta_uv, look.theta_uv, look.alpha_uv, look.beta_uv])
    sizes = sizes * person.rhythms * generator.lognormal(0.0, 0.2, 4)
    bands = ((1.2, 0.6), (5.5, 1.0), (person.alpha_hz, 0.8), (20.0, 4.0))
    signal = 8.0 * pink_noise(generator, shape, _RATE_HZ, person.slope)[:, 0]
    for size, (centre_hz, width_hz) in zip(sizes, bands, strict=True):
        signal += size * band_noise(generator, shape, _RATE_HZ, centre_hz, width_hz)[:, 0]
    seconds = np.arange(FACTS.n_times) / _RATE_HZ
    signal += _LOCKED_UV * person.locked * np.sqrt(2.0) * np.sin(2.0 * np.pi * look.locked_hz * seconds)

    def moments(expected: float) -> NDArray[np.float64]:
        return generator.uniform(1, EPOCH_S - 1, generator.poisson(expected))

    for at in moments(look.spindles):
        envelope = np.exp(-0.5 * ((seconds - at) / generator.uniform(0.2, 0.4)) ** 2)
        signal += (
            generator.uniform(12, 25) * envelope * np.sin(2 * np.pi * person.spindle_hz * (seconds - at))
        )
    for at in moments(look.k_complexes):
        fall, rise = (np.exp(-0.5 * ((seconds - at - shift) / 0.12) ** 2) for shift in (0.0, 0.35))
        signal += generator.uniform(60, 120) * (0.6 * rise - fall)
    for at in moments(look.rolling_eyes):
        envelope = np.exp(-0.5 * ((seconds - at) / 2.0) ** 2)
        signal += generator.uniform(15, 35) * envelope * np.sin(2 * np.pi * 0.35 * (seconds - at))
    for at in moments(look.rapid_eyes):
        signal += (
            generator.choice([-1, 1]) * generator.uniform(25, 60) * np.exp(-((seconds - at) ** 2) / 0.05)
        )
    return person.amplitude * signal


def _write_psg(
    path: Path, generator: np.random.Generator, person: _Person, stages: NDArray[np.int64]
) -> None:
    """Write the seven signals of the study; only Fpz-Cz is more than a placeholder of the right shape."""
    shown = draw_shown(generator, stages, FACTS.n_classes)
    frontal = np.concatenate([_epoch(generator, person, _LOOKS[stage]) for stage in shown])
    n_times, n_seconds = len(frontal), len(frontal) // int(_RATE_HZ)
    fast, slow = (n_times, 2), (n_seconds, 4)
    occipital, eyes = (15.0 * pink_noise(generator, fast, _RATE_HZ, person.slope)).T
    breath, muscle, temperature, event = pink_noise(generator, slow, 1.0, 1.0).T
    signals = [
        _signal("EEG Fpz-Cz", "uV", _RATE_HZ, frontal, 250.0),
        _signal("EEG Pz-Oz", "uV", _RATE_HZ, 0.4 * frontal + occipital, 250.0),
        _signal("EOG horizontal", "uV", _RATE_HZ, eyes, 1000.0),
        _signal("Resp oro-nasal", "", 1.0, 200.0 * breath, 2048.0),
        _signal("EMG submental", "uV", 1.0, 1.0 + 0.2 * muscle, 5.0),
        _signal("Temp rectal", "DegC", 1.0, 37.0 + 0.1 * temperature, 40.0),
        _signal("Event marker", "", 1.0, 100.0 * event, 2047.0),
    ]
    _write_edf(path, signals, [])


def _signal(
    label: str, unit: str, rate_hz: float, values: NDArray[np.float64], limit: float
) -> "edfio.EdfSignal":
    import edfio

    return edfio.EdfSignal(
        np.clip(values, -limit, limit),
        rate_hz,
        label=label,
        physical_dimension=unit,
        physical_range=(-limit, limit),
        digital_range=(-2048, 2047),
    )


def _write_hypnogram(path: Path, generator: np.random.Generator, stages: NDArray[np.int64]) -> None:
    """Write runs of equal stages, then unscored time beyond the recording, as the real files have."""
    import edfio

    deep = generator.choice(["3", "4"])
    codes = ["W", "1", "2", deep, "R"]
    annotations, at_s = [], 0
    for stage, run in groupby(stages):
        duration_s = EPOCH_S * len(list(run))
        annotations.append(edfio.EdfAnnotation(at_s, duration_s, f"Sleep stage {codes[stage]}"))
        at_s += duration_s
    annotations.append(edfio.EdfAnnotation(at_s, _UNSCORED_TAIL_S, "Sleep stage ?"))
    _write_edf(path, [], annotations)


def _write_edf(
    path: Path, signals: "list[edfio.EdfSignal]", annotations: "list[edfio.EdfAnnotation]"
) -> None:
    import edfio

    file = edfio.Edf(signals, annotations=annotations, data_record_duration=EPOCH_S if signals else None)
    with atomic_file(path) as temporary:
        temporary.write_bytes(file.to_bytes())
