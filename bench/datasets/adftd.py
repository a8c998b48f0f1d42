"""ADFTD: resting EEG of Alzheimer's disease, frontotemporal dementia and healthy people (OpenNeuro ds004504).

Source: Miltiadous et al., Data 8(6):95, 2023. Preprocessing: DL4mHealth/Medformer at 446275f, its notebook for
ADFTD: the publisher's filtered ``derivatives``, each channel interpolated linearly from 500 to 256 Hz, windows of
256 samples laid outward from the middle of the recording. Windows are in microvolt.
"""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord
from bench.datasets.resampling import resample_linear
from bench.errors import DataError

REVISION = 1
LIBRARIES = ("scipy", "h5py")

FACTS = DatasetFacts(
    name="adftd",
    title="EEG of Alzheimer's disease, frontotemporal dementia and healthy subjects, eyes closed",
    version="OpenNeuro ds004504 1.0.8",
    task="diagnosis of a subject from one second of EEG",
    class_names=("control", "frontotemporal dementia", "Alzheimer's disease"),
    channel_names=(
        *("Fp1", "Fp2", "F3", "F4", "C3", "C4", "P3", "P4", "O1", "O2"),
        *("F7", "F8", "T3", "T4", "T5", "T6", "Fz", "Cz", "Pz"),
    ),
    n_times=256,
    sampling_rate_hz=256.0,
    normalisation="window",
    n_subjects=88,
    n_windows=69_752,
    homepage="https://openneuro.org/datasets/ds004504",
    licence="CC0",
    citation="Miltiadous et al., A Dataset of Scalp EEG Recordings of Alzheimer's Disease, Frontotemporal "
    "Dementia and Healthy Subjects from Routine EEG, Data 8(6):95, 2023, doi:10.3390/data8060095",
    split_rule="by subject, within each class in the order of participants.tsv: 60 percent train, 20 validation, "
    "20 test (51/18/19 subjects)",
    layout=(
        "participants.tsv",
        "derivatives/sub-NNN/eeg/sub-NNN_task-eyesclosed_eeg.set (a .fdt file beside it if it names one)",
    ),
    checked_in_files=("rate", "channels"),
    known_problems=(
        "the published preprocessing interpolates from 500 to 256 Hz without a low-pass filter",
        "Alzheimer subjects come first, then controls, then FTD: a split by position would separate the classes",
        "a copy from GitHub or by git-annex holds placeholders in place of the signals until they are fetched",
        "artefact removal by the publisher has cut pieces out of the recordings: seconds are not clock time",
    ),
)

SOURCE_RATE_HZ = 500.0
# A volt: no head makes as much, a damaged file does.
MAX_UV = 1e6
TABLE = "participants.tsv"
# The publisher's group letter: Control, Frontotemporal, Alzheimer.
_LABEL_OF_GROUP = {"C": 0, "F": 1, "A": 2}


def listed(folder: Path) -> SourceList:
    """List the subjects of the publisher's table, whether their signals are there or not.

    Raises
    ------
    DataError
        The table is missing, unreadable, or not this dataset's.
    """
    path = folder / TABLE
    if not path.is_file():
        raise DataError(f"{path}: no such file; this is not ds004504, get it from {FACTS.homepage}")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path}: not a table in UTF-8 ({error}); get it again from {FACTS.homepage}"
        ) from error
    if not rows or not {"participant_id", "Group"} <= set(rows[0]):
        columns = ", ".join(map(str, rows[0])) if rows else "no rows"
        raise DataError(
            f"{path}: needs columns participant_id and Group, has {columns}; is this another dataset?"
        )
    subjects = tuple(_source_record(path, folder, row["participant_id"], row["Group"]) for row in rows)
    names = [record.name for record in subjects]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: subject '{name}' has {names.count(name)} rows; keep one")
    return SourceList(subjects)


def _source_record(table: Path, folder: Path, subject: str | None, group: str | None) -> SourceRecord:
    if not subject or not subject.startswith("sub-") or not subject[4:].isalnum():
        raise DataError(f"{table}: '{subject}' is not a subject's name such as sub-001; get the table again")
    if group not in _LABEL_OF_GROUP:
        raise DataError(f"{table}: subject '{subject}' has group '{group}', known are A, F and C")
    stem = f"derivatives/{subject}/eeg/{subject}_task-eyesclosed_eeg"
    companion = (f"{stem}.fdt",) if (folder / f"{stem}.fdt").is_file() else ()
    return SourceRecord(
        name=subject, subject=subject, label=_LABEL_OF_GROUP[group], paths=(f"{stem}.set", *companion)
    )


def records(folder: Path) -> SourceList:
    """List one record per subject of ``participants.tsv``; one whose file is missing fails when it is cut.

    Raises
    ------
    DataError
        The table is missing or unusable, or there are no signals at all.
    """
    subjects = listed(folder)
    if not any((folder / record.paths[0]).exists() for record in subjects.records):
        raise DataError(
            f"{folder}: only the tables of {len(subjects.records)} subjects are here, none of the signals "
            f"(derivatives/sub-*/eeg/*.set); get them from {FACTS.homepage}, or with 'bench data fetch adftd'"
        )
    return subjects


def cut(folder: Path, record: SourceRecord) -> Cut:
    """Read one subject's recording and cut it into windows of one second.

    Raises
    ------
    DamagedRecord
        The recording is missing, damaged, or not as published: 19 named channels at 500 Hz.
    """
    from bench.datasets.formats.eeglab import read_set

    recording = read_set(folder, record.paths[0])
    file_name = Path(record.paths[0]).name
    if recording.channel_names != FACTS.channel_names:
        raise DamagedRecord(f"{file_name}: {_difference(recording.channel_names)}")
    if recording.sampling_rate_hz != SOURCE_RATE_HZ:
        raise DamagedRecord(
            f"{file_name}: {recording.sampling_rate_hz:g} Hz instead of {SOURCE_RATE_HZ:g} Hz"
        )
    signal = recording.signal
    n_absurd = np.count_nonzero(~(np.abs(signal) < MAX_UV))
    if n_absurd:
        raise DamagedRecord(
            f"{file_name}: {n_absurd} values are NaN, infinite or beyond {MAX_UV:g} microvolt"
        )
    constant = np.flatnonzero(np.ptp(signal, axis=0) == 0)
    if len(constant):
        raise DamagedRecord(f"{file_name}: channel {FACTS.channel_names[constant[0]]} is constant")
    n_resampled = int(len(signal) * FACTS.sampling_rate_hz // SOURCE_RATE_HZ)
    if n_resampled < FACTS.n_times:
        raise DamagedRecord(f"{file_name}: {len(signal)} samples are less than one window of a second")
    return Cut.of_one(windows_from_middle(resample_linear(signal, n_resampled)), record)


def _difference(names: tuple[str, ...]) -> str:
    """Say in what a list of channels differs from the published one."""
    if len(names) != FACTS.n_channels:
        return f"{len(names)} channels instead of {FACTS.n_channels}: {', '.join(names[:8])}, ..."
    position = next(i for i, name in enumerate(names) if name != FACTS.channel_names[i])
    return f"channel {position + 1} is '{names[position]}' instead of '{FACTS.channel_names[position]}'"


def windows_from_middle(signal: NDArray[np.float64]) -> NDArray[np.float32]:
    """Cut windows outward from the middle sample, so that both ends may lose a remainder.

    Parameters
    ----------
    signal
        ``(n_times, n_channels)``.

    Returns
    -------
    NDArray[np.float32]
        ``(n, 256, n_channels)`` in order of time, not overlapping.
    """
    size = FACTS.n_times
    middle = len(signal) // 2
    n_before, n_after = middle // size, (len(signal) - middle) // size
    used = signal[middle - n_before * size : middle + n_after * size]
    return used.reshape(n_before + n_after, size, signal.shape[1]).astype(np.float32)
