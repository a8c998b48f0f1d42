"""Resting EEG of simulated people: a coloured background, rhythms on a scalp, and artefacts.

What carries the classes follows reviews of the field (Babiloni et al., Clinical Neurophysiology 2016; Jeong,
Clinical Neurophysiology 2004): in Alzheimer's disease the alpha peak slows and loses power to theta, and alpha is
less posterior; in frontotemporal dementia slow activity is frontal. The sizes are ours. A person's own peak,
amplitudes and scalp patterns differ more than these do. So that a few epochs of training find the classes, a flicker
drives a rhythm besides, which starts at the same phase in each second; no resting EEG has that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Positions on the unit disc, seen from above: to the right, and to the front.
ELECTRODES = {
    "Fp1": (-0.3, 0.95),
    "Fp2": (0.3, 0.95),
    "F7": (-0.8, 0.6),
    "F3": (-0.4, 0.55),
    "Fz": (0.0, 0.5),
    "F4": (0.4, 0.55),
    "F8": (0.8, 0.6),
    "T3": (-1.0, 0.0),
    "C3": (-0.5, 0.0),
    "Cz": (0.0, 0.0),
    "C4": (0.5, 0.0),
    "T4": (1.0, 0.0),
    "T5": (-0.8, -0.6),
    "P3": (-0.4, -0.55),
    "Pz": (0.0, -0.5),
    "P4": (0.4, -0.55),
    "T6": (0.8, -0.6),
    "O1": (-0.3, -0.95),
    "O2": (0.3, -0.95),
}


@dataclass(frozen=True, kw_only=True)
class Condition:
    """The average member of a class. Amplitudes are standard deviations in microvolt over the scalp.

    ``alpha_back`` and ``theta_front`` say how strongly a rhythm grows towards the back and the front. ``driven_hz`` is
    a whole number, and the driven rhythm is largest around ``driven_at``, to the right and to the front.
    """

    alpha_hz: float
    alpha_uv: float
    alpha_back: float
    theta_uv: float
    theta_front: float
    delta_uv: float
    driven_hz: int
    driven_at: tuple[float, float]


HEALTHY = Condition(
    alpha_hz=9.8, alpha_uv=9.0, alpha_back=1.1, theta_uv=5.0, theta_front=0.0, delta_uv=6.0, driven_hz=10,
    driven_at=(0.0, -0.6),
)  # fmt: skip
ALZHEIMER = Condition(
    alpha_hz=8.6, alpha_uv=7.0, alpha_back=0.5, theta_uv=7.5, theta_front=0.1, delta_uv=7.0, driven_hz=6,
    driven_at=(0.6, 0.0),
)  # fmt: skip
FRONTOTEMPORAL = Condition(
    alpha_hz=9.4, alpha_uv=8.0, alpha_back=0.9, theta_uv=6.5, theta_front=0.9, delta_uv=7.0, driven_hz=4,
    driven_at=(0.0, 0.6),
)  # fmt: skip

# Standard deviation in microvolt where the driven rhythm is largest.
_DRIVEN_UV = 60.0


@dataclass(frozen=True)
class Person:
    """What is a person's own: factors on the class's amplitudes, a shift of the peak, and scalp patterns."""

    amplitude: float
    slope: float
    alpha_shift_hz: float
    alpha: NDArray[np.float64]
    theta: NDArray[np.float64]
    delta: NDArray[np.float64]
    driven: NDArray[np.float64]
    muscle: NDArray[np.float64]


def draw_person(generator: np.random.Generator, n_channels: int, *, spread: float) -> Person:
    """Draw a person; scalp patterns are factors of each channel, ``(n_channels,)``.

    ``spread`` is the deviation of the logarithm of the rhythms that are a person's own. At 1 the power in a band tells
    people apart rather than classes.
    """

    def pattern(deviation: float) -> NDArray[np.float64]:
        return generator.lognormal(0.0, deviation, n_channels) * generator.lognormal(0.0, deviation)

    return Person(
        amplitude=generator.lognormal(0.0, 0.25),
        slope=generator.normal(1.0, 0.12),
        alpha_shift_hz=generator.normal(0.0, 0.75),
        alpha=pattern(spread),
        theta=pattern(spread),
        delta=pattern(spread),
        driven=pattern(0.2),
        muscle=generator.lognormal(-0.3, 0.7, n_channels),
    )


def resting_eeg(
    generator: np.random.Generator,
    conditions: Sequence[Condition],
    person: Person,
    *,
    channel_names: Sequence[str],
    n_times: int,
    sampling_rate_hz: float,
) -> NDArray[np.float64]:
    """Return a recording with closed eyes, ``(n_times, n_channels)`` in microvolt.

    Parameters
    ----------
    generator
        Source of the signal; the person's traits are drawn apart.
    conditions, person
        What each stretch shows, stretches being of equal length, and what is the person's own.
    channel_names
        Names in ``ELECTRODES``.
    n_times, sampling_rate_hz
        Length and rate.
    """
    positions = np.array([ELECTRODES[name] for name in channel_names])
    shape = (n_times, len(positions))
    front = positions[:, 1]
    brain = 6.0 * pink_noise(generator, shape, sampling_rate_hz, person.slope)
    shown = np.arange(n_times) * len(conditions) // n_times
    for condition in dict.fromkeys(conditions):
        is_shown = np.array([stretch == condition for stretch in conditions])[shown]
        rhythms = _rhythms(generator, condition, person, positions, (n_times, sampling_rate_hz))
        brain += is_shown[:, None] * rhythms
    muscle = 1.5 * band_noise(generator, shape, sampling_rate_hz, 32.0, 9.0) * person.muscle
    eyes = _eye_movements(generator, n_times, sampling_rate_hz)[:, None] * np.clip(front, 0.05, None) ** 2
    return person.amplitude * (_spread(brain, positions) + muscle) + eyes


def _rhythms(
    generator: np.random.Generator,
    condition: Condition,
    person: Person,
    positions: NDArray[np.float64],
    length: tuple[int, float],
) -> NDArray[np.float64]:
    """Return what differs between conditions, ``(n_times, n_channels)``; ``length`` is n_times and the rate in Hz."""
    n_times, rate_hz = length
    shape, front = (n_times, len(positions)), positions[:, 1]
    # Waxing and waning within seconds keeps windows of one person from being alike.
    waxing = np.exp(0.5 * band_noise(generator, (n_times, 1), rate_hz, 0.0, 0.3))
    alpha = waxing * band_noise(generator, shape, rate_hz, condition.alpha_hz + person.alpha_shift_hz, 0.8)
    theta = band_noise(generator, shape, rate_hz, 5.5, 0.9)
    delta = band_noise(generator, shape, rate_hz, 2.0, 0.8)
    distance = np.linalg.norm(positions - np.array(condition.driven_at), axis=1)
    driven = np.sqrt(2.0) * np.sin(2.0 * np.pi * condition.driven_hz * np.arange(n_times) / rate_hz)[:, None]
    return (
        condition.alpha_uv * alpha * person.alpha * np.exp(-condition.alpha_back * front)
        + condition.theta_uv * theta * person.theta * np.exp(condition.theta_front * front)
        + condition.delta_uv * delta * person.delta
        + _DRIVEN_UV * driven * person.driven * np.exp(-0.5 * (distance / 0.5) ** 2)
    )


def band_noise(
    generator: np.random.Generator,
    shape: tuple[int, int],
    sampling_rate_hz: float,
    centre_hz: float,
    width_hz: float,
) -> NDArray[np.float64]:
    """Return noise whose spectrum is a Gaussian around a frequency, with standard deviation 1 over time."""
    frequency = np.fft.rfftfreq(shape[0], 1.0 / sampling_rate_hz)[:, None]
    return _shaped_noise(generator, shape, np.exp(-0.5 * ((frequency - centre_hz) / width_hz) ** 2))


def pink_noise(
    generator: np.random.Generator, shape: tuple[int, int], sampling_rate_hz: float, slope: float
) -> NDArray[np.float64]:
    """Return noise whose power falls as ``1 / f ** slope`` above half a hertz, with standard deviation 1."""
    frequency = np.fft.rfftfreq(shape[0], 1.0 / sampling_rate_hz)[:, None]
    return _shaped_noise(generator, shape, np.maximum(frequency, 0.5) ** (-slope / 2.0))


def _shaped_noise(
    generator: np.random.Generator, shape: tuple[int, int], gain: NDArray[np.float64]
) -> NDArray[np.float64]:
    spectrum = np.fft.rfft(generator.standard_normal(shape), axis=0) * gain
    signal = np.fft.irfft(spectrum, n=shape[0], axis=0)
    return signal / np.sqrt(np.mean(signal**2, axis=0, keepdims=True))


def _spread(sources: NDArray[np.float64], positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let each electrode see its neighbours' sources too, at unchanged power for independent ones."""
    distance = np.linalg.norm(positions[:, None] - positions[None], axis=-1)
    weight = np.exp(-0.5 * (distance / 0.35) ** 2)
    return sources @ (weight / np.linalg.norm(weight, axis=0))


def _eye_movements(
    generator: np.random.Generator, n_times: int, sampling_rate_hz: float
) -> NDArray[np.float64]:
    """Return slow deflections under closed lids, about one in eight seconds, in microvolt at the forehead."""
    signal = np.zeros(n_times)
    seconds = np.arange(n_times) / sampling_rate_hz
    for onset_s in generator.uniform(0, seconds[-1], generator.poisson(seconds[-1] / 8.0)):
        height_uv, width_s = generator.normal(0.0, 40.0), generator.uniform(0.1, 0.3)
        signal += height_uv * np.exp(-0.5 * ((seconds - onset_s) / width_s) ** 2)
    return signal
