"""A simulated cohort in PTB's layout: 15 leads at 1000 Hz, the diagnosis in the header's comments."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.ptb import FACTS, SOURCE_RATE_HZ
from bench.datasets.simulate.ecg import beat_times, draw_heart, simulate_ecg
from bench.datasets.simulate.marker import write_marker
from bench.datasets.simulate.shown import attainable, draw_shown
from bench.datasets.simulate.subjects import draw_classes, subject_generator
from bench.errors import UsageError

REVISION = 3
DEMO = {"n_subjects": 50, "seconds": 7.0}

# Patients of the published dataset, in label order, and the conditions that the ECG generator knows.
_SHARES = (52, 148)
_CONDITIONS = ("NORM", "MI")
_REASONS = ("Healthy control", "Myocardial infarction")
# With fewer of a class the published rule (55, 15 and 30 percent) leaves its validation part empty.
_LEAST_PER_CLASS = 5
_LEAST_SUBJECTS = 10
_MOST_SUBJECTS = 999
_LEAST_SECONDS, _MOST_SECONDS = 5.0, 3600.0
# All hearts are paced at one rate, so that windows are padded alike. The protocol leaves out records with more than
# 1.2 s from beat to beat; of beats this far apart a window, which is as long, holds no neighbour's waves.
_BEAT_DISTANCE_S = 0.8
# The P wave tells patients apart, so that beats of one patient are more alike than those of one diagnosis.
_P_SPREAD_MV = 0.12
_GAIN_PER_MV = 2000
_N_DAT_LEADS = 12


def simulate(folder: Path, *, n_subjects: int, seconds: float, seed: int) -> None:
    """Write a cohort that the PTB reader reads: one or two records of each patient.

    Parameters
    ----------
    folder
        The dataset's folder, made if need be.
    n_subjects
        Patients, 10 to 999; about a quarter are healthy controls, as published.
    seconds
        Length of a record, 5 to 3600.
    seed
        Seed of the cohort.

    Raises
    ------
    UsageError
        ``n_subjects`` or ``seconds`` is out of range.
    """
    if not _LEAST_SUBJECTS <= n_subjects <= _MOST_SUBJECTS:
        raise UsageError(
            f"ptb: {n_subjects} subjects; give {_LEAST_SUBJECTS} to {_MOST_SUBJECTS} to simulate"
        )
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise UsageError(f"ptb: records of {seconds} s; give {_LEAST_SECONDS:g} to {_MOST_SECONDS:g} seconds")
    labels = draw_classes(_SHARES, n_subjects, seed, FACTS.name)
    assert np.bincount(labels).min() >= _LEAST_PER_CLASS, "ten subjects give five of each class"
    write_marker(
        folder,
        simulator=FACTS.name,
        revision=REVISION,
        seed=seed,
        n_subjects=n_subjects,
        seconds=seconds,
        **attainable(np.bincount(labels).tolist()),
    )
    names: list[str] = []
    for patient, label in enumerate(labels, start=1):
        generator = subject_generator(seed, patient)
        heart = draw_heart(generator, p_spread_mv=_P_SPREAD_MV)
        heart = replace(heart, beat_distance_s=_BEAT_DISTANCE_S)
        comments = _comments(_REASONS[label], generator)
        for _ in range(generator.integers(1, 3)):
            names.append(f"patient{patient:03d}/s{len(names) + 1:04d}_re")
            times = beat_times(heart, seconds, generator)
            shown = draw_shown(generator, np.full(len(times), label), len(_CONDITIONS))
            signal = simulate_ecg(
                heart,
                [(at, _CONDITIONS[i]) for at, i in zip(times, shown, strict=True)],
                seconds=seconds,
                sampling_rate_hz=SOURCE_RATE_HZ,
                generator=generator,
            )
            write_record(folder, names[-1], signal, comments)
    (folder / "RECORDS").write_text("".join(f"{name}\n" for name in names), encoding="ascii")


def write_record(folder: Path, name: str, signal: NDArray[np.float64], comments: Mapping[str, str]) -> None:
    """Write one record in the database's manner: 12 leads in .dat, 3 in .xyz, comments as ``# key: value``.

    Parameters
    ----------
    folder
        The dataset's folder.
    name
        Name in ``RECORDS``, such as ``patient001/s0001_re``.
    signal
        ``(n_times, 15)`` in mV at 1000 Hz; what 16 bits at 2000 units a mV cannot hold is clipped.
    comments
        Comments of the header, in order.
    """
    assert signal.shape[1] == FACTS.n_channels, f"signal must have {FACTS.n_channels} leads: {signal.shape}"
    digital = np.rint(np.clip(signal * _GAIN_PER_MV, -32767, 32767)).astype("<i2")
    stem = folder / name
    stem.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{stem.name} {FACTS.n_channels} {SOURCE_RATE_HZ} {len(digital)}"]
    for i, lead in enumerate(FACTS.channel_names):
        suffix = "dat" if i < _N_DAT_LEADS else "xyz"
        checksum = int(digital[:, i].sum(dtype=np.int64).astype(np.int16))
        lines.append(f"{stem.name}.{suffix} 16 {_GAIN_PER_MV} 16 0 {digital[0, i]} {checksum} 0 {lead}")
    lines += [f"# {key}: {value}" for key, value in comments.items()]
    stem.with_suffix(".hea").write_text("\n".join(lines) + "\n", encoding="ascii")
    stem.with_suffix(".dat").write_bytes(digital[:, :_N_DAT_LEADS].tobytes())
    stem.with_suffix(".xyz").write_bytes(digital[:, _N_DAT_LEADS:].tobytes())


def _comments(reason: str, generator: np.random.Generator) -> dict[str, str]:
    return {
        "age": str(generator.integers(25, 85)),
        "sex": str(generator.choice(["female", "male"])),
        "ECG date": "n/a",
        "Diagnose": "",
        "Reason for admission": reason,
        "Additional diagnoses": "simulated",
    }
