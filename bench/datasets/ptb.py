"""PTB Diagnostic ECG Database: one window per heartbeat, infarction against healthy controls.

Source: PhysioNet ``ptbdb`` 1.0.0 (https://physionet.org/content/ptbdb/1.0.0/). Preprocessing: the PTB
notebook of DL4mHealth/Medformer at f298115. Its steps, with what its text and its printed output settle:

1. Kept are the patients with a record whose "Reason for admission" is healthy control (52) or myocardial
   infarction (148), with all their records (448).
2. Every channel is interpolated linearly from 1000 to 250 Hz; the record is then scaled to zero mean and unit
   population deviation per channel.
3. R peaks are found in every channel by neurokit2. A record's beat length m is the median over channels of
   each channel's median distance of neighbouring peaks; records with m > 300 are left out (10 of 448). A
   channel without peaks has no say; the notebook would leave the record out, but printed no such case.
4. Channels differ in how many peaks they show. Beats go up to the LARGEST count: the i-th centre is the
   median of the i-th peak over the channels that have one. (Patient 1's printed 370 beats in 3 records agree
   with this only: the smallest count of its first record is 37, the largest 52.) A channel that misses a beat
   is therefore off by one from there on; the median hides it as long as most channels agree.
5. A beat is centre - floor(m / 2) up to, not including, centre + floor(m / 2), clipped at the record's ends
   and padded with zeros to 300 time points, the smaller half on the left.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord, as_one_line
from bench.datasets.formats.source_files import is_there, source_file
from bench.datasets.formats.text_file import text_lines
from bench.datasets.formats.wfdb_file import read_wfdb
from bench.datasets.normalisation import standard_scale, standard_scale_of
from bench.datasets.resampling import resample_linear
from bench.errors import DataError

REVISION = 1
LIBRARIES = ("wfdb", "neurokit2")
SOURCE_RATE_HZ = 1000
_LEADS = ("i", "ii", "iii", "avr", "avl", "avf", "v1", "v2", "v3", "v4", "v5", "v6", "vx", "vy", "vz")
SUFFIXES = (".hea", ".dat", ".xyz")

FACTS = DatasetFacts(
    name="ptb",
    title="PTB Diagnostic ECG Database",
    version="1.0.0",
    task="myocardial infarction against healthy control, one heartbeat per window",
    class_names=("healthy control", "myocardial infarction"),
    channel_names=_LEADS,
    n_times=300,
    sampling_rate_hz=250.0,
    normalisation="window",
    n_subjects=198,
    n_windows=64_356,
    homepage="https://physionet.org/content/ptbdb/1.0.0/",
    licence="Open Data Commons Attribution License 1.0",
    citation=(
        "Bousseljot R, Kreiseler D, Schnabel A. Nutzung der EKG-Signaldatenbank CARDIODAT der PTB über das "
        "Internet. Biomedizinische Technik 40 (1995), supplement 1, 317. doi:10.13026/C28C71"
    ),
    split_rule=(
        "per class, in the order of patient numbers: the first floor(0.55 n) train, up to floor(0.7 n) "
        "validation, the rest test"
    ),
    layout=("RECORDS", "patientNNN/sNNNN*.hea, .dat and .xyz"),
    checked_in_files=("rate", "channels"),
    known_problems=(
        "patients 273 and 277 drop out: their only records have a median R distance above 300 samples",
        "zero padding is inside each window's mean and deviation, so padded steps become a nonzero constant",
        "healthy controls are fewer (52 against 148 patients): chance is far above one half",
        "a channel that misses an R peak is counted one beat late from there on, as in the published windows",
    ),
)

_RECORD = re.compile(r"(patient[0-9]{3})/s[0-9]{4}[A-Za-z0-9_]{0,16}")
_REASON = re.compile(r"#\s*reason for admission\s*:(.*)", re.IGNORECASE)


def records(folder: Path) -> SourceList:
    """List the records of healthy controls and of infarction patients, in the order of ``RECORDS``.

    Raises
    ------
    DataError
        ``RECORDS`` is missing, lists another dataset or a record twice, or no record is in the folder.
    """
    listed = _listed(folder)
    present = [name for name in listed if any(is_there(folder / f"{name}{end}") for end in SUFFIXES)]
    if not present:
        raise DataError(
            f"{folder}: no record of the {len(listed)} in RECORDS is there; get them: `bench data fetch ptb`"
        )
    reasons = {name: _reason_for_admission(folder, name) for name in present}
    patients = {name.partition("/")[0]: set[str]() for name in present}
    for name, reason in reasons.items():
        patients[name.partition("/")[0]].add(reason)
    found, excluded = [], [(name, "not in the folder") for name in sorted(set(listed) - set(present))]
    for name in present:
        subject = name.partition("/")[0]
        label, why_not = _label(patients[subject])
        if why_not:
            excluded.append((name, why_not))
        else:
            paths = tuple(f"{name}{end}" for end in SUFFIXES if is_there(folder / f"{name}{end}"))
            found.append(SourceRecord(name=name, subject=subject, label=label, paths=paths))
    return SourceList(tuple(found), tuple(excluded))


def cut(folder: Path, record: SourceRecord) -> Cut:
    """Cut one record into heartbeats; no windows at all where the median R distance exceeds 300 samples.

    Raises
    ------
    DamagedRecord
        A file is missing, truncated, not as the header says or not as the database is; or there are no peaks.
    """
    if record.label is None:
        raise DamagedRecord(f"{record.name}.hea: no 'Reason for admission' to be read; get it again")
    signal = standard_scale(_signal_at_250_hz(folder, record.name))
    peaks = [r_peaks(channel) for channel in signal.T]
    if all(positions.size < 2 for positions in peaks):
        raise DamagedRecord(f"{record.name}: no lead has two R peaks")
    length = beat_length(peaks)
    if length > FACTS.n_times:
        return Cut.of_one(np.empty((0, FACTS.n_times, FACTS.n_channels), np.float32), record)
    return Cut.of_one(cut_beats(signal, beat_centres(peaks), length, FACTS.n_times), record)


def scale_of(folder: Path, record: SourceRecord) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and deviation of each lead in millivolt, ``(15,)`` each, by which `cut` scales a record.

    Raises
    ------
    DamagedRecord
        As `cut`.
    """
    return standard_scale_of(_signal_at_250_hz(folder, record.name))


def r_peaks(channel: NDArray[np.float64], sampling_rate_hz: int = 250) -> NDArray[np.int64]:
    """Return the sample positions of the R peaks in one finite channel, by neurokit2's own method."""
    import neurokit2

    clean = neurokit2.ecg_clean(channel, sampling_rate=sampling_rate_hz, method="neurokit")
    found = neurokit2.ecg_findpeaks(clean, sampling_rate=sampling_rate_hz, method="neurokit")
    return np.asarray(found["ECG_R_Peaks"], dtype=np.int64)


def beat_length(peaks: list[NDArray[np.int64]]) -> float:
    """Return the median over channels of the median distance of neighbouring peaks, in samples.

    Channels with fewer than two peaks have no distance and are left out; one channel must have two.
    """
    return float(np.median([np.median(np.diff(of_one)) for of_one in peaks if of_one.size > 1]))


def beat_centres(peaks: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the median over channels of the i-th peak, rounded down, for i up to the largest count.

    Channels without an i-th peak have no say in the i-th centre.
    """
    table = np.full((len(peaks), max(map(len, peaks))), np.nan)
    for row, of_one in zip(table, peaks, strict=True):
        row[: of_one.size] = of_one
    return np.nanmedian(table, axis=0).astype(np.int64)


def cut_beats(
    signal: NDArray[np.float64], centres: NDArray[np.int64], length: float, n_times: int
) -> NDArray[np.float32]:
    """Cut beats of ``2 * floor(length / 2)`` out of ``(n_samples, n_channels)``, zero-padded to n_times.

    Returns
    -------
    NDArray[np.float32]
        ``(n_beats, n_times, n_channels)``.
    """
    half = int(length / 2)
    beats = np.zeros((len(centres), n_times, signal.shape[1]), dtype=np.float32)
    for beat, centre in zip(beats, centres, strict=True):
        part = signal[max(0, centre - half) : min(centre + half, len(signal))]
        left = (n_times - len(part)) // 2
        beat[left : left + len(part)] = part
    return beats


def _signal_at_250_hz(folder: Path, name: str) -> NDArray[np.float64]:
    """Return the 15 leads of a record, ``(n_times, 15)``, interpolated to 250 Hz, in millivolt."""
    for suffix in SUFFIXES:
        source_file(folder, f"{name}{suffix}")
    signal = read_wfdb(folder, name, channel_names=FACTS.channel_names, sampling_rate_hz=SOURCE_RATE_HZ)
    if len(signal) < SOURCE_RATE_HZ:
        raise DamagedRecord(f"{name}.hea: {len(signal)} samples, expected at least one second")
    constant = np.flatnonzero(np.ptp(signal, axis=0) == 0)
    if constant.size:
        raise DamagedRecord(f"{name}: lead {FACTS.channel_names[constant[0]]} is constant")
    n_out = len(signal) * int(FACTS.sampling_rate_hz) // SOURCE_RATE_HZ
    return resample_linear(signal, n_out)


def _listed(folder: Path) -> list[str]:
    """Return the names in ``RECORDS``, checked."""
    path = folder / "RECORDS"
    if not is_there(path):
        raise DataError(f"{path}: missing; `bench data fetch ptb` gets the database from {FACTS.homepage}")
    try:
        names = text_lines(path)
    except DamagedRecord as error:
        raise DataError(f"{path.parent}: {error}; `bench data fetch ptb` gets it again") from error
    for name in names:
        if not _RECORD.fullmatch(name):
            raise DataError(
                f"{path}: '{as_one_line(name[:80])}' is no record of PTB (patient001/s0010_re); another dataset?"
            )
    # A record's number is unique over the whole database: twice is the same ECG under two patients.
    stems: dict[str, str] = {}
    for name in names:
        stem = name.partition("/")[2]
        if stem in stems:
            raise DataError(f"{path}: record {stem} is listed twice, as {stems[stem]} and {name}")
        stems[stem] = name
    return names


def _reason_for_admission(folder: Path, name: str) -> str:
    """Return the diagnosis in a header's comments in lower case; empty where it cannot be read."""
    try:
        lines = text_lines(source_file(folder, f"{name}.hea"))
    except DamagedRecord:
        return ""
    reasons = (as_one_line(match[1].strip().lower()) for match in map(_REASON.fullmatch, lines) if match)
    return next(reasons, "")


def _label(reasons: set[str]) -> tuple[int | None, str]:
    """Return a patient's label, or why the patient is left out; neither if no header is readable."""
    labels = [label for label, name in enumerate(FACTS.class_names) if name in reasons]
    if len(labels) > 1:
        return None, "patient with records of both classes"
    if labels:
        return labels[0], ""
    known = sorted(reasons - {""})
    return None, f"reason for admission: {', '.join(known)}" if known else ""
