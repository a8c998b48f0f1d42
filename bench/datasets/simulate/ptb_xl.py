"""A simulated cohort in PTB-XL's layout: its two tables and WFDB records of 10 s at 500 Hz."""

import csv
from pathlib import Path

import numpy as np

from bench.datasets.ptb_xl import (
    CLASS_OF_CODE,
    CODES_OF_CLASS,
    FACTS,
    SOURCE_N_TIMES,
    SOURCE_RATE_HZ,
    STATEMENTS,
    TABLE,
)
from bench.datasets.simulate.ecg import draw_heart, simulate_ecg
from bench.datasets.simulate.marker import write_marker
from bench.datasets.simulate.shown import attainable, draw_shown
from bench.datasets.simulate.subjects import draw_classes, subject_generator

REVISION = 2
DEMO = {"n_subjects": 70, "seconds": 10.0}

# Records with one super-class in the published table: NORM, MI, STTC, CD, HYP.
_SHARES = (9069, 2532, 2400, 1708, 535)
_RECORD_S = SOURCE_N_TIMES / SOURCE_RATE_HZ
_UNITS_PER_MV = 1000.0
# Windows are a second long; a pacemaker puts one beat into each, at nearly the same place.
_BEAT_AT_S, _BEAT_JITTER_S = 0.35, 0.01
_COLUMNS = ("ecg_id", "patient_id", "report", "scp_codes", "strat_fold", "filename_lr", "filename_hr")


def simulate(folder: Path, *, n_subjects: int, seconds: float, seed: int) -> None:
    """Write a cohort that the PTB-XL reader reads.

    Parameters
    ----------
    folder
        An empty folder.
    n_subjects
        Patients, at least 20.
    seconds
        Recorded time of each patient; rounded to whole records of 10 s, at least one.
    seed
        Seed of the cohort.

    Raises
    ------
    UsageError
        There are too few subjects.
    """
    labels = draw_classes(_SHARES, n_subjects, seed, FACTS.name)
    write_marker(
        folder,
        simulator="ptb-xl",
        revision=REVISION,
        seed=seed,
        n_subjects=n_subjects,
        seconds=seconds,
        **attainable(np.bincount(labels).tolist()),
    )
    n_records = max(1, round(seconds / _RECORD_S))
    rows = []
    for patient, label in enumerate(labels, start=1):
        generator = subject_generator(seed, patient)
        name = FACTS.class_names[label]
        heart = draw_heart(generator)
        code = str(generator.choice(CODES_OF_CLASS[name].split()))
        for _ in range(n_records):
            ecg_id = len(rows) + 1
            path = f"records500/{ecg_id // 1000 * 1000:05d}/{ecg_id:05d}_hr"
            signal = simulate_ecg(
                heart,
                _paced_beats(label, generator),
                seconds=_RECORD_S,
                sampling_rate_hz=SOURCE_RATE_HZ,
                generator=generator,
            )
            _write_record(folder / path, signal[:, : FACTS.n_channels])
            codes = repr({code: 100.0, "SR": 0.0})
            rows.append((ecg_id, f"{patient}.0", "simulated", codes, 1 + patient % 10, "", path))
    _write_table(folder / TABLE, _COLUMNS, rows)
    statements = [(code, "simulated", name) for code, name in CLASS_OF_CODE.items()]
    _write_table(
        folder / STATEMENTS,
        ("", "description", "diagnostic_class"),
        [*statements, ("SR", "sinus rhythm", "")],
    )


def _paced_beats(label: int, generator: np.random.Generator) -> list[tuple[float, str]]:
    shown = draw_shown(generator, np.full(round(_RECORD_S), label), FACTS.n_classes)
    at = np.arange(len(shown)) + _BEAT_AT_S + generator.normal(0.0, _BEAT_JITTER_S, len(shown))
    return [(at_s, FACTS.class_names[i]) for at_s, i in zip(at, shown, strict=True)]


def _write_record(path: Path, signal_mv: np.ndarray) -> None:
    import wfdb

    path.parent.mkdir(parents=True, exist_ok=True)
    n_leads = signal_mv.shape[1]
    wfdb.wrsamp(
        path.name,
        fs=int(SOURCE_RATE_HZ),
        units=["mV"] * n_leads,
        sig_name=list(FACTS.channel_names),
        d_signal=np.rint(signal_mv * _UNITS_PER_MV).clip(-32767, 32767).astype(np.int64),
        fmt=["16"] * n_leads,
        adc_gain=[_UNITS_PER_MV] * n_leads,
        baseline=[0] * n_leads,
        write_dir=str(path.parent),
    )


def _write_table(path: Path, columns: tuple[str, ...], rows: list[tuple]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)
