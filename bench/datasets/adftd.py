"""ADFTD: resting EEG of Alzheimer's disease, frontotemporal dementia and healthy people (OpenNeuro ds004504).

Source: Miltiadous et al., Data 8(6):95, 2023. Preprocessing: DL4mHealth/Medformer at 446275f, its notebook for
ADFTD: the publisher's filtered ``derivatives``, each channel interpolated linearly from 500 to 256 Hz, windows of
256 samples laid outward from the middle of the recording. Windows are in microvolt.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import (
    Cut,
    DamagedRecord,
    DatasetFacts,
    SourceList,
    SourceRecord,
    as_one_line,
)
from bench.datasets.formats.source_files import is_there
from bench.datasets.formats.text_file import table_rows
from bench.datasets.resampling import resample_linear
from bench.errors import DataError

REVISION = 1
LIBRARIES = ("h5py",)

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
_SUBJECT = re.compile(r"sub-[A-Za-z0-9]{1,32}")


def listed(folder: Path) -> SourceList:
    """List the subjects of the publisher's table, whether their signals are there or not.

    Raises
    ------
    DataError
        The table is missing, unreadable, or not this dataset's.
    """
    path, remedy = folder / TABLE, f"is this another dataset? Get it again from {FACTS.homepage}"
    if not is_there(path):
        raise DataError(f"{path}: no such file; this is not ds004504, get it from {FACTS.homepage}")
    subjects: dict[str, SourceRecord] = {}
    for number, row in table_rows(path, ("participant_id", "Group"), remedy, delimiter="\t"):
        record = _source_record(path, folder, row["participant_id"], row["Group"])
        if record.name in subjects:
            raise DataError(f"{path}, line {number}: subject '{record.name}' has 2 rows; keep one")
        subjects[record.name] = record
    if not subjects:
        raise DataError(f"{path}: has no rows; {remedy}")
    return SourceList(tuple(subjects.values()))


def _source_record(table: Path, folder: Path, subject: str, group: str) -> SourceRecord:
    if not _SUBJECT.fullmatch(subject):
        raise DataError(
            f"{table}: '{as_one_line(subject[:80])}' is not a subject's name such as sub-001; get the table again"
        )
    if group not in _LABEL_OF_GROUP:
        raise DataError(
            f"{table}: subject '{subject}' has group '{as_one_line(group[:80])}', known are A, F and C"
        )
    stem = f"derivatives/{subject}/eeg/{subject}_task-eyesclosed_eeg"
    companion = (f"{stem}.fdt",) if is_there(folder / f"{stem}.fdt") else ()
    return SourceRecord(
        name=subject, subject=subject, label=_LABEL_OF_GROUP[group], paths=(f"{stem}.set", *companion)
    )


def records(folder: Path) -> SourceList:
    """List one record per subject of ``participants.tsv`` whose signal is in the folder.

    Raises
    ------
    DataError
        The table is missing or unusable, or there are no signals at all.
    """
    subjects = listed(folder).records
    present = tuple(record for record in subjects if is_there(folder / record.paths[0]))
    if not present:
        raise DataError(
            f"{folder}: only the tables of {len(subjects)} subjects are here, none of the signals "
            f"(derivatives/sub-*/eeg/*.set); get them from {FACTS.homepage}, or with 'bench data fetch adftd'"
        )
    absent = sorted({record.name for record in subjects} - {record.name for record in present})
    return SourceList(present, tuple((name, "not in the folder") for name in absent))


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
    windows = windows_from_middle(resample_linear(signal, n_resampled))
    return Cut.of_one(windows, record, remarks=recording.remarks)


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
