"""UCI Human Activity Recognition Using Smartphones: 2.56-s windows of a phone worn at the waist.

Source: UCI Machine Learning Repository 240, version 1.0 (https://doi.org/10.24432/C54S4K). The publisher has
cut the windows (128 samples at 50 Hz, half overlapping) and written each of nine signals to a text file of its
own, one window a line; nothing is left to do but to put the nine together in the order of DL4mHealth/Medformer's
prepared array (10,299 x 128 x 9). Labels 1 to 6 become 0 to 5.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord
from bench.datasets.formats.source_files import is_folder, source_file
from bench.datasets.formats.text_file import numbered_lines
from bench.errors import DataError

REVISION = 1
ARCHIVE_FOLDER = "UCI HAR Dataset"
PUBLISHED_PARTS = ("train", "test")
_SIGNALS = tuple(f"{kind}_{axis}" for kind in ("body_acc", "body_gyro", "total_acc") for axis in "xyz")
_N_SUBJECTS = 30
_LONGEST = 3

FACTS = DatasetFacts(
    name="uci-har",
    title="Human Activity Recognition Using Smartphones",
    version="1.0",
    task="activity of a person from accelerometer and gyroscope at the waist",
    class_names=("walking", "walking upstairs", "walking downstairs", "sitting", "standing", "laying"),
    channel_names=_SIGNALS,
    n_times=128,
    sampling_rate_hz=50.0,
    normalisation="channel",
    n_subjects=_N_SUBJECTS,
    n_windows=10_299,
    homepage="https://archive.ics.uci.edu/dataset/240/human+activity+recognition+using+smartphones",
    licence=(
        "CC BY 4.0 by the publisher's page; the readme in the archive of 2012 says: no commercial use. "
        "Ask the publisher where it matters"
    ),
    citation=(
        "Anguita D, Ghio A, Oneto L, Parra X, Reyes-Ortiz JL. A public domain dataset for human activity "
        "recognition using smartphones. ESANN 2013, 437-442. doi:10.24432/C54S4K"
    ),
    split_rule="test: the publisher's 9 subjects; validation: 27, 28, 29, 30 of the publisher's 21; rest train",
    layout=(
        "UCI HAR Dataset/PART/y_PART.txt and subject_PART.txt, where PART is train and test",
        "UCI HAR Dataset/PART/Inertial Signals/SIGNAL_PART.txt, one file for each channel",
    ),
    # Each channel is a file of that name.
    checked_in_files=("channels",),
    known_problems=(
        "windows overlap by half, and neighbours are near copies: a split by window inflates every score",
        "total_acc is in g and body_acc is total_acc without gravity: scaling each window by itself removes "
        "gravity and with it posture, so channels are scaled over the training part instead",
        "the readme's order of the inertial files differs from copy to copy; ours is by name",
    ),
)


def records(folder: Path) -> SourceList:
    """List the publisher's two parts; subjects differ within a part and come with the windows.

    Raises
    ------
    DataError
        The archive's folder or a part is missing, or a subject is in both parts.
    """
    root = folder / ARCHIVE_FOLDER
    if not is_folder(root):
        raise DataError(
            f"{root}: no such folder, so {folder} is not UCI-HAR's; get it from {FACTS.homepage} or by "
            "`bench data fetch uci-har`"
        )
    subjects: dict[str, set[int]] = {}
    for part in PUBLISHED_PARTS:
        path = _table_path(part, "subject")
        try:
            subjects[part] = set(_whole_numbers(folder, path, highest=_N_SUBJECTS).tolist())
        except DamagedRecord as error:
            raise DataError(f"{folder}: {error}; get the archive again from {FACTS.homepage}") from error
    both = sorted(subjects["train"] & subjects["test"])
    if both:
        raise DataError(f"{root}: subject {both[0]} is in both parts; the publisher's parts share nobody")
    return SourceList(
        tuple(
            SourceRecord(name=part, subject="various", label=None, paths=tuple(_paths(part)))
            for part in PUBLISHED_PARTS
        )
    )


def cut(folder: Path, record: SourceRecord) -> Cut:
    """Put the nine signals of a part together; a window is named by part and line, such as ``test/1``.

    Raises
    ------
    DamagedRecord
        A file is missing, or is not as many lines of as many finite numbers as it must be.
    """
    part = record.name
    labels = _whole_numbers(folder, _table_path(part, "y"), highest=FACTS.n_classes) - 1
    subjects = _whole_numbers(folder, _table_path(part, "subject"), highest=_N_SUBJECTS)
    if len(subjects) != len(labels):
        raise DamagedRecord(
            f"{_table_path(part, 'subject')}: {len(subjects)} lines, but {len(labels)} in y_{part}.txt"
        )
    windows = np.empty((len(labels), FACTS.n_times, FACTS.n_channels), dtype=np.float32)
    for channel, name in enumerate(_SIGNALS):
        windows[:, :, channel] = _read_signal(folder, _signal_path(part, name), n_windows=len(labels))
    names = np.char.add(f"{part}/", np.arange(1, len(labels) + 1).astype(str))
    return Cut(windows, labels, subjects.astype(str), names)


def _paths(part: str) -> list[str]:
    tables = [_table_path(part, "y"), _table_path(part, "subject")]
    return [*tables, *(_signal_path(part, name) for name in _SIGNALS)]


def _table_path(part: str, table: str) -> str:
    return f"{ARCHIVE_FOLDER}/{part}/{table}_{part}.txt"


def _signal_path(part: str, signal: str) -> str:
    return f"{ARCHIVE_FOLDER}/{part}/Inertial Signals/{signal}_{part}.txt"


def _whole_numbers(folder: Path, relative: str, *, highest: int) -> NDArray[np.int64]:
    """Read a file of one whole number from 1 to ``highest`` a line."""
    lines = numbered_lines(source_file(folder, relative))
    for number, line in lines:
        if not (line.isascii() and line.isdigit() and len(line) <= _LONGEST and 1 <= int(line) <= highest):
            raise DamagedRecord(f"{relative}, line {number}: '{line[:40]}', expected 1 to {highest}")
    if not lines:
        raise DamagedRecord(f"{relative}: no lines; get it again")
    return np.array([int(line) for _, line in lines], dtype=np.int64)


def _read_signal(folder: Path, relative: str, *, n_windows: int) -> NDArray[np.float32]:
    """Read a file of one window a line, ``(n_windows, n_times)``; numbers are parted by any blanks."""
    lines = numbered_lines(source_file(folder, relative))
    if len(lines) != n_windows:
        raise DamagedRecord(f"{relative}: {len(lines)} lines, but {n_windows} labels; cut off?")
    try:
        values = np.loadtxt([line for _, line in lines], dtype=np.float64, comments=None, ndmin=2)
    except ValueError as error:
        raise DamagedRecord(f"{relative}, {_first_uneven(lines) or error}") from error
    if values.shape[1] != FACTS.n_times:
        raise DamagedRecord(f"{relative}, {_first_uneven(lines)}")
    usable = (np.abs(values) <= np.finfo(np.float32).max).all(axis=1)
    if not usable.all():
        number, _ = lines[usable.argmin()]
        raise DamagedRecord(f"{relative}, line {number}: a value that is not a finite number")
    if values.min() == values.max():
        raise DamagedRecord(f"{relative}: every value is {values.flat[0]:g}, a constant channel")
    return values.astype(np.float32)


def _first_uneven(lines: list[tuple[int, str]]) -> str:
    """Say which line first has another count of numbers than a window; empty if none has."""
    for number, line in lines:
        n_values = len(line.split())
        if n_values != FACTS.n_times:
            return f"line {number}: {n_values} numbers, expected {FACTS.n_times}"
    return ""
