"""Simulates UCI-HAR: people who walk, climb, sit, stand and lie, as a phone at the waist would feel it.

Classes live in gait (rate, strength and shape of the steps) and in where gravity points (posture). Each person has
a step rate, a vigour and a way of wearing the phone of their own. Postures lie further apart than real ones, so that
a few epochs of training tell them across people. Layout and file names are the publisher's, subjects are of the
publisher's two parts, so that the published split applies.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.simulate.marker import write_marker
from bench.datasets.simulate.shown import attainable, draw_shown
from bench.datasets.simulate.subjects import subject_generator
from bench.datasets.splits import published_list
from bench.datasets.uci_har import ARCHIVE_FOLDER, FACTS
from bench.errors import UsageError

REVISION = 2
DEMO = {"n_subjects": 10, "seconds": 16.0}

_STEP = FACTS.n_times // 2
# A bout shows one activity throughout and gives three windows; the last takes what is left over.
_BOUT_TIMES = 2 * FACTS.n_times


@dataclass(frozen=True)
class _Activity:
    """One class: step rate relative to the person's, strength in g, share of the second harmonic, posture.

    ``gravity`` is where gravity points in the phone's axes, as azimuth and elevation in degrees.
    """

    rate: float
    strength: float
    harmonic: float
    gravity: tuple[float, float]


# In label order: walking, upstairs, downstairs, sitting, standing, laying.
_ACTIVITIES = (
    _Activity(1.00, 0.22, 0.60, (0.0, 0.0)),
    _Activity(0.86, 0.19, 0.30, (-30.0, 25.0)),
    _Activity(1.05, 0.30, 0.90, (25.0, -25.0)),
    _Activity(0.00, 0.00, 0.00, (35.0, 40.0)),
    _Activity(0.00, 0.00, 0.00, (-10.0, -10.0)),
    _Activity(0.00, 0.00, 0.00, (80.0, 10.0)),
)


@dataclass(frozen=True)
class _Person:
    step_hz: float
    vigour: float
    tilt_deg: NDArray[np.float64]
    sway_g: float


def simulate(folder: Path, *, n_subjects: int, seconds: float, seed: int) -> None:
    """Write a cohort of the publisher's first subjects of each part.

    Parameters
    ----------
    folder
        The dataset's folder, made if need be.
    n_subjects
        3 to 30; about 3 in 10 are test subjects and 4 in 30 validation subjects, as published.
    seconds
        How long each person keeps up each activity; at least one window, 2.56 s.
    seed
        Seed; person k depends on seed and k only.

    Raises
    ------
    UsageError
        ``n_subjects`` or ``seconds`` is out of range.
    """
    window_s = FACTS.n_times / FACTS.sampling_rate_hz
    if not 3 <= n_subjects <= FACTS.n_subjects:
        raise UsageError(
            f"n_subjects {n_subjects}: UCI-HAR is simulated with 3 to {FACTS.n_subjects} subjects"
        )
    if not window_s <= seconds <= 3600:
        raise UsageError(f"seconds {seconds}: give {window_s} (one window) to 3600 an activity")
    write_marker(
        folder,
        simulator=FACTS.name,
        revision=REVISION,
        seed=seed,
        n_subjects=n_subjects,
        seconds=seconds,
        **attainable(np.ones(FACTS.n_classes).tolist()),
    )
    root = folder / ARCHIVE_FOLDER
    root.mkdir(exist_ok=True)
    lines = [f"{i} {name.upper().replace(' ', '_')}\n" for i, name in enumerate(FACTS.class_names, start=1)]
    (root / "activity_labels.txt").write_text("".join(lines), encoding="ascii")
    for part, subjects in _subjects(n_subjects).items():
        _write_part(root / part, part, subjects, seconds=seconds, seed=seed)


def _subjects(n_subjects: int) -> dict[str, list[int]]:
    """Choose subjects so that the published rule finds training, validation and test subjects."""
    listed = published_list(FACTS.name) or {}
    training, validation, test = (list(map(int, listed[part])) for part in ("train", "validation", "test"))
    n_test = max(1, round(n_subjects * len(test) / FACTS.n_subjects))
    n_validation = max(1, round(n_subjects * len(validation) / FACTS.n_subjects))
    n_training = n_subjects - n_test - n_validation
    return {"train": [*training[:n_training], *validation[:n_validation]], "test": test[:n_test]}


def _write_part(folder: Path, part: str, subjects: list[int], *, seconds: float, seed: int) -> None:
    windows, labels, owners = [], [], []
    for subject in subjects:
        generator = subject_generator(seed, subject)
        person = _person(generator)
        lengths = _bouts(int(seconds * FACTS.sampling_rate_hz))
        told = np.repeat(np.arange(FACTS.n_classes), len(lengths))
        shown = draw_shown(generator, told, FACTS.n_classes).reshape(FACTS.n_classes, -1)
        for label in range(FACTS.n_classes):
            of_activity = _windows(shown[label], lengths, person, generator)
            windows += of_activity
            labels += [label + 1] * len(of_activity)
            owners += [subject] * len(of_activity)
    signals = folder / "Inertial Signals"
    signals.mkdir(parents=True, exist_ok=True)
    for name, channel in zip(FACTS.channel_names, np.moveaxis(np.array(windows), -1, 0), strict=True):
        np.savetxt(signals / f"{name}_{part}.txt", channel, fmt=" % .7e")
    np.savetxt(folder / f"y_{part}.txt", labels, fmt="%d")
    np.savetxt(folder / f"subject_{part}.txt", owners, fmt="%d")


def _bouts(n_samples: int) -> list[int]:
    """Return the lengths of the bouts that make up ``n_samples``."""
    n_bouts = max(1, n_samples // _BOUT_TIMES)
    return [_BOUT_TIMES] * (n_bouts - 1) + [n_samples - _BOUT_TIMES * (n_bouts - 1)]


def _windows(
    shown: NDArray[np.int64], lengths: list[int], person: _Person, generator: np.random.Generator
) -> list[NDArray[np.float64]]:
    """Return half-overlapping windows ``(128, 9)``, cut from bouts of given lengths that show given activities."""
    windows = []
    for activity, length in zip(shown, lengths, strict=True):
        recording = _recording(_ACTIVITIES[activity], person, length, generator)
        starts = range(0, length - FACTS.n_times + 1, _STEP)
        windows += [recording[start : start + FACTS.n_times] for start in starts]
    return windows


def _person(generator: np.random.Generator) -> _Person:
    return _Person(
        step_hz=generator.normal(1.85, 0.15),
        vigour=generator.lognormal(0.0, 0.22),
        tilt_deg=generator.normal(0.0, 5.0, 2),
        sway_g=generator.lognormal(np.log(0.008), 0.3),
    )


def _recording(
    activity: _Activity, person: _Person, n_samples: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return ``(n_samples, 9)``: body acceleration (g), rotation (rad/s) and total acceleration (g)."""
    azimuth, elevation = np.radians(
        np.array(activity.gravity) + person.tilt_deg + generator.normal(0, 2.5, 2)
    )
    gravity = np.array(
        [np.cos(azimuth) * np.cos(elevation), -np.sin(azimuth) * np.cos(elevation), np.sin(elevation)]
    )
    # Steps drift in rate, so that no two windows of a walk are alike.
    rate_hz = person.step_hz * activity.rate * (1 + generator.normal(0, 0.04))
    drift = np.cumsum(generator.normal(0, 0.02, n_samples))
    phase = 2 * np.pi * rate_hz * np.arange(n_samples) / FACTS.sampling_rate_hz + drift
    strength = activity.strength * person.vigour * generator.lognormal(0, 0.15)
    steps = np.sin(phase) + activity.harmonic * np.sin(2 * phase + generator.uniform(0.6, 1.4))
    sideways = np.sin(phase / 2 + generator.uniform(0, 2 * np.pi))
    body = strength * np.outer(steps, gravity) + 0.5 * strength * np.outer(sideways, [0.1, 1.0, 0.3])
    body += person.sway_g * _slow_noise(n_samples, generator) + generator.normal(0, 0.02, (n_samples, 3))
    turning = strength * np.column_stack([2.0 * sideways, 1.2 * steps, 1.5 * np.roll(sideways, 6)])
    turning += 4 * person.sway_g * _slow_noise(n_samples, generator)
    turning += generator.normal(0, 0.03, (n_samples, 3))
    return np.hstack([body, turning, body + gravity])


def _slow_noise(n_samples: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return ``(n_samples, 3)`` of unit-deviation noise that is correlated over half a second."""
    kernel = np.hanning(25)
    noise = generator.normal(0, 1, (n_samples + kernel.size - 1, 3))
    smooth = np.stack([np.convolve(axis, kernel, mode="valid") for axis in noise.T], axis=1)
    return smooth / np.sqrt((kernel**2).sum())
