"""Simulated electrocardiograms: a beating dipole, seen by the 12 standard and the three Frank leads.

Each wave of a beat is a bump of a three-dimensional dipole (x to the left, y to the feet, z to the back), as in
McSharry et al., A dynamical model for generating synthetic electrocardiogram signals, IEEE TBME 50:289 (2003);
the standard leads follow by the matrix of Dower et al., J. Electrocardiology 13:165 (1980).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

STANDARD_LEADS = ("I", "II", "III", "AVR", "AVL", "AVF", "V1", "V2", "V3", "V4", "V5", "V6")
FRANK_LEADS = ("VX", "VY", "VZ")

# Rows V1-V6, I, II; columns x, y, z.
_DOWER = np.array(
    [
        (-0.515, 0.157, -0.917),
        (0.044, 0.164, -1.387),
        (0.882, 0.098, -1.277),
        (1.213, 0.127, -0.601),
        (1.125, 0.127, -0.086),
        (0.831, 0.076, 0.230),
        (0.632, -0.235, 0.059),
        (0.235, 1.066, -0.132),
    ]
)

_HEALTHY_WAVES = {
    # centre in s after the R peak, width in s, dipole in mV
    "P": (-0.16, 0.022, (0.06, 0.12, -0.02)),
    "Q": (-0.026, 0.009, (-0.12, -0.06, -0.30)),
    "R": (0.0, 0.012, (0.95, 0.70, 0.25)),
    "S": (0.028, 0.012, (-0.18, -0.12, 0.45)),
    "ST": (0.11, 0.040, (0.01, 0.01, -0.02)),
    "T": (0.27, 0.050, (0.26, 0.18, -0.16)),
}


@dataclass(frozen=True)
class Wave:
    """One bump of the dipole: centre in s after the R peak, width in s, ``(3,)`` dipole in mV."""

    centre_s: float
    width_s: float
    dipole: NDArray[np.float64]

    def scaled(self, factor: float) -> "Wave":
        """Return the wave with another height."""
        return replace(self, dipole=self.dipole * factor)

    def shifted(self, by: NDArray[np.float64]) -> "Wave":
        """Return the wave with a vector added to its dipole."""
        return replace(self, dipole=self.dipole + by)

    def widened(self, factor: float) -> "Wave":
        """Return the wave stretched in time about the R peak."""
        return replace(self, centre_s=self.centre_s * factor, width_s=self.width_s * factor)


@dataclass(frozen=True)
class Heart:
    """What stays with a subject: waves of each condition, beat distance and its variation in s, gains, noise in mV."""

    waves: dict[str, dict[str, Wave]]
    beat_distance_s: float
    beat_variation_s: float
    gains: NDArray[np.float64]
    noise_mv: float


def draw_heart(generator: np.random.Generator, *, p_spread_mv: float = 0.02) -> Heart:
    """Draw a subject's heart, with the looks that it would have in each condition.

    ``NORM``; ``MI``: deep Q, ST elevation and inverted T towards the lower wall; ``STTC``: ST depression and inverted
    T; ``CD``: broad QRS with a late terminal vector; ``HYP``: tall R, leftward and backward, strain. How marked the
    change is differs between subjects, but it is always visible, and each condition has one cause only: real ones
    are harder. ``p_spread_mv`` is how far the P wave, which no condition alters much, lies from the average heart's:
    the deviation along each axis.
    """
    turn = _small_rotation(generator, angle=0.10)
    size = generator.lognormal(0.0, 0.2)
    waves = {}
    for name, (centre, width, dipole) in _HEALTHY_WAVES.items():
        spread_mv = p_spread_mv if name == "P" else 0.02
        own = np.asarray(dipole) * generator.lognormal(0.0, 0.1) + generator.normal(0.0, spread_mv, 3)
        waves[name] = Wave(
            centre * generator.lognormal(0.0, 0.05),
            width * generator.lognormal(0.0, 0.10),
            size * (turn @ own),
        )
    severity = generator.uniform(1.1, 1.3)
    return Heart(
        waves={condition: change(waves, severity) for condition, change in _CHANGES.items()},
        beat_distance_s=60.0 / min(max(generator.normal(70.0, 10.0), 45.0), 110.0),
        beat_variation_s=generator.uniform(0.01, 0.05),
        gains=generator.lognormal(0.0, 0.08, len(STANDARD_LEADS) + len(FRANK_LEADS)),
        noise_mv=generator.uniform(0.01, 0.04),
    )


def beat_times(heart: Heart, seconds: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return when a heart that beats of itself beats, in s, from before the recording's start to after its end."""
    n_beats = int((seconds + 2.0) / heart.beat_distance_s) + 2
    variation = generator.normal(0.0, heart.beat_variation_s, n_beats)
    start = -generator.uniform(0.0, heart.beat_distance_s)
    return start + np.cumsum(heart.beat_distance_s + variation)


def simulate_ecg(
    heart: Heart,
    beats: Sequence[tuple[float, str]],
    *,
    seconds: float,
    sampling_rate_hz: float,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Return ``(n_times, 15)`` in mV: the 12 standard leads, then the three Frank leads.

    Baseline wander, mains hum, muscle noise and now and then a jump of one electrode are added.

    Parameters
    ----------
    heart
        Of the subject.
    beats
        Time of each R peak in s, and the condition that the beat shows.
    seconds, sampling_rate_hz
        Length and rate.
    generator
        Source of noise.
    """
    n_times = round(seconds * sampling_rate_hz)
    time = np.arange(n_times) / sampling_rate_hz
    dipole = np.zeros((n_times, 3))
    for beat, condition in beats:
        strength = generator.normal(1.0, 0.03)
        for wave in heart.waves[condition].values():
            reach = 4.0 * wave.width_s
            first, last = np.searchsorted(time, (beat + wave.centre_s - reach, beat + wave.centre_s + reach))
            bump = np.exp(-0.5 * ((time[first:last] - beat - wave.centre_s) / wave.width_s) ** 2)
            dipole[first:last] += strength * bump[:, None] * wave.dipole
    return _leads(dipole) * heart.gains + _noise(heart, time, generator)


def _leads(dipole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project ``(n_times, 3)`` to ``(n_times, 15)``."""
    chest_and_limb = dipole @ _DOWER.T
    chest, first, second = chest_and_limb[:, :6], chest_and_limb[:, 6], chest_and_limb[:, 7]
    limb = np.stack(
        [first, second, second - first, -(first + second) / 2, first - second / 2, second - first / 2], axis=1
    )
    return np.concatenate([limb, chest, dipole], axis=1)


def _noise(heart: Heart, time: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    n_leads = len(heart.gains)
    noise = generator.normal(0.0, heart.noise_mv, (len(time), n_leads))
    for rate_hz, height_mv in ((generator.uniform(0.15, 0.4), 0.08), (50.0, 0.01)):
        phase = generator.uniform(0.0, 2.0 * np.pi, n_leads)
        height = generator.exponential(height_mv, n_leads)
        noise += height * np.sin(2.0 * np.pi * rate_hz * time[:, None] + phase)
    if generator.random() < 0.15:
        lead, at = generator.integers(n_leads), generator.uniform(0.0, time[-1])
        after = np.maximum(time - at, 0.0)
        noise[:, lead] += generator.normal(0.0, 0.8) * (after > 0.0) * np.exp(-after / 0.4)
    return noise


def _small_rotation(generator: np.random.Generator, angle: float) -> NDArray[np.float64]:
    """Return a rotation about a random axis by a normal angle of the given deviation in radians."""
    axis = generator.normal(size=3)
    x, y, z = axis / np.linalg.norm(axis)
    skew = np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])
    by = generator.normal(0.0, angle)
    return np.eye(3) + np.sin(by) * skew + (1.0 - np.cos(by)) * (skew @ skew)


Waves = dict[str, Wave]
_Change = Callable[[Waves, float], Waves]


def _healthy(waves: Waves, severity: float) -> Waves:
    del severity
    return waves


def _infarction(waves: Waves, severity: float) -> Waves:
    # Towards the lower wall, which died.
    wall = np.array((0.0, 1.0, 0.1))
    return waves | {
        "Q": waves["Q"].shifted(-0.55 * severity * wall).widened(1.0 + 0.5 * severity),
        "R": waves["R"].shifted(-0.35 * severity * wall),
        "ST": waves["ST"].shifted(0.16 * severity * wall),
        "T": waves["T"].shifted(-0.45 * severity * wall),
    }


def _repolarisation(waves: Waves, severity: float) -> Waves:
    return waves | {
        "ST": waves["ST"].shifted(-0.20 * severity * np.array((0.8, 0.6, -0.2))),
        "T": waves["T"].scaled(1.0 - 2.2 * severity),
    }


def _conduction(waves: Waves, severity: float) -> Waves:
    # The right bundle, so that the end of QRS points to the right and forward.
    late = np.array((-0.55, -0.05, -0.45))
    broad = 1.0 + 0.7 * severity
    return waves | {
        "P": replace(waves["P"], centre_s=waves["P"].centre_s * (1.0 + 0.3 * severity)),
        "R": replace(waves["R"], width_s=waves["R"].width_s * broad),
        "S": waves["S"].widened(1.0 + 0.8 * severity).shifted(severity * late),
        "T": waves["T"].shifted(-0.3 * severity * late),
    }


def _hypertrophy(waves: Waves, severity: float) -> Waves:
    return waves | {
        "R": waves["R"].scaled(1.0 + 0.9 * severity).shifted(severity * np.array((0.2, -0.25, 0.35))),
        "T": waves["T"].shifted(-severity * np.array((0.35, 0.1, 0.1))),
        "ST": waves["ST"].shifted(-0.06 * severity * np.array((1.0, 0.2, 0.0))),
    }


_CHANGES: dict[str, _Change] = {
    "NORM": _healthy,
    "MI": _infarction,
    "STTC": _repolarisation,
    "CD": _conduction,
    "HYP": _hypertrophy,
}
