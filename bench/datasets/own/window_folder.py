"""A folder of windows, the form of DL4mHealth/Medformer's prepared data, with a description beside it.

    dataset.toml                    what it is: classes, channels, rate, licence (ours)
    Feature/feature_001.npy         (n_windows, n_times, n_channels) of subject 1, and so on
    Label/label.npy                 (n_subjects, 2): class and number of each subject
    Label/window_label_001.npy      (n_windows,) classes of a subject whose class is -1, since they change

Numbers of subjects are compared as numbers, whatever their zero padding.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.formats.npy_file import map_npy
from bench.datasets.formats.source_files import file_names, is_folder, is_there
from bench.datasets.own.description import DESCRIPTION, Description, write_description
from bench.datasets.own.description import read_description as read_description
from bench.errors import DataError
from bench.files import atomic_folder, unwritable

_FEATURE = re.compile(r"feature_([0-9]{1,9})\.npy")
VARIES = -1


@dataclass(frozen=True)
class Part:
    """The windows of one subject: ``(n, n_times, n_channels)`` float32, and their labels ``(n,)``."""

    subject: str
    windows: NDArray[np.float32]
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class SubjectFile:
    """A subject's number, name, feature file (in ``Feature/``), and class, None where it changes."""

    number: int
    name: str
    file: str
    label: int | None


def list_subjects(folder: Path, description: Description) -> tuple[SubjectFile, ...]:
    """List the subjects of a folder by number, with the names that the description gives them.

    Raises
    ------
    DataError
        Feature files and label table disagree, a number occurs twice, or a label is no class.
    """
    files = _feature_files(folder)
    labels = _label_table(folder / "Label" / "label.npy", description)
    for number in sorted(files.keys() ^ labels.keys()):
        where = "Feature" if number in files else "Label/label.npy"
        raise DataError(f"{folder}: subject {number} is in {where} only; features and labels must agree")
    unknown = sorted(set(description.subjects) - {str(number) for number in files})
    if unknown:
        raise DataError(f"{folder / DESCRIPTION}: subjects names '{unknown[0]}', which has no feature file")
    found = tuple(
        SubjectFile(number, description.subjects.get(str(number), str(number)), files[number], labels[number])
        for number in sorted(files)
    )
    name, count = Counter(subject.name for subject in found).most_common(1)[0]
    if count > 1:
        raise DataError(f"{folder / DESCRIPTION}: {count} subjects are named '{name}'")
    return found


def read_part(folder: Path, subject: SubjectFile, description: Description) -> Part:
    """Read the windows of a subject.

    Raises
    ------
    DataError
        The file is damaged, has another number of channels, or holds values that are not finite.
    """
    path = folder / "Feature" / subject.file
    windows = as_windows(path, map_npy(path), description)
    if subject.label is not None:
        return Part(subject.name, windows, np.full(len(windows), subject.label, dtype=np.int64))
    path = folder / window_label_path(subject.file)
    labels = as_labels(path, map_npy(path), description)
    if labels.shape != (len(windows),):
        raise DataError(f"{path}: shape {labels.shape}, but {subject.file} has {len(windows)} windows")
    return Part(subject.name, windows, labels)


def window_label_path(feature_file: str) -> str:
    """Return where the labels of a feature file's windows are, within the folder."""
    return f"Label/window_label_{feature_file.removeprefix('feature_')}"


def as_windows(path: Path, array: NDArray, description: Description) -> NDArray[np.float32]:
    """Return an array of a file as windows, in memory.

    Raises
    ------
    DataError
        It is no ``(n, n_times, n_channels)`` of finite numbers with the description's channels.
    """
    n_channels = len(description.channel_names)
    if array.ndim != 3 or 0 in array.shape or array.shape[2] != n_channels:
        raise DataError(f"{path}: shape {array.shape}, expected (windows, times, {n_channels} channels)")
    if array.dtype.kind not in "fiu":
        raise DataError(f"{path}: {array.dtype} values, expected real numbers")
    with np.errstate(over="ignore"):
        windows = np.array(array, dtype=np.float32)
    finite = np.isfinite(windows).all(axis=(1, 2))
    if not finite.all():
        raise DataError(f"{path}: window {finite.argmin()} has values that are not finite")
    return windows


def as_labels(path: Path, array: NDArray, description: Description) -> NDArray[np.int64]:
    """Return an array of a file as labels.

    Raises
    ------
    DataError
        It holds anything but whole numbers of classes.
    """
    if array.dtype.kind not in "fiu" or not np.isin(array, np.arange(len(description.class_names))).all():
        n_classes = len(description.class_names)
        raise DataError(
            f"{path}: labels must be whole numbers from 0 to {n_classes - 1}, the classes described"
        )
    return array.astype(np.int64)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a folder to write into, which gets its name when all is written and vanishes on an error.

    Raises
    ------
    DataError
        The target exists, or its parent does not.
    """
    if is_there(target):
        raise DataError(f"{target}: exists already; remove it or give another name")
    if not is_folder(target.parent):
        raise DataError(f"{target.parent}: no such folder; make it first")
    with atomic_folder(target) as folder:
        yield folder


def write_parts(folder: Path, description: Description, parts: Iterator[Part]) -> None:
    """Write subjects one by one, numbered from 1, then the labels and the description with their names.

    Subjects must come one part each. ``description.subjects`` is replaced.

    Raises
    ------
    BenchError
        The folder cannot be written.
    """
    names: dict[str, str] = {}
    table: list[tuple[int, int]] = []
    labels: list[NDArray[np.int64]] = []
    for number, part in enumerate(parts, start=1):
        _save(folder / "Feature" / f"feature_{number:03d}.npy", part.windows)
        classes = np.unique(part.labels)
        table.append((int(classes[0]) if len(classes) == 1 else VARIES, number))
        labels.append(part.labels)
        names[str(number)] = part.subject
    if any(label == VARIES for label, _ in table):
        table = [(VARIES, number) for _, number in table]
        for number, of_one in enumerate(labels, start=1):
            _save(folder / "Label" / f"window_label_{number:03d}.npy", of_one)
    _save(folder / "Label" / "label.npy", np.array(table, dtype=np.int64))
    write_description(folder, description.model_copy(update={"subjects": names}))


def _feature_files(folder: Path) -> dict[int, str]:
    if not is_folder(folder / "Feature"):
        raise DataError(f"{folder}: no folder Feature in it; not a folder of windows")
    found: dict[int, str] = {}
    for name in file_names(folder / "Feature"):
        match = _FEATURE.fullmatch(name)
        if not match:
            continue
        number = int(match[1])
        if number in found:
            raise DataError(f"{folder / 'Feature'}: {found[number]} and {name} are both subject {number}")
        found[number] = name
    if not found:
        raise DataError(f"{folder / 'Feature'}: no feature_NNN.npy in it; not a folder of windows")
    return found


def read_label_table(path: Path) -> NDArray:
    """Return the rows (class, number) of a label table; the classes are not looked at.

    Raises
    ------
    DataError
        The file is damaged, is no such table, or has a number twice.
    """
    mapped = map_npy(path)
    if mapped.ndim != 2 or mapped.shape[1] != 2 or mapped.dtype.kind not in "fiu":
        raise DataError(
            f"{path}: {mapped.dtype} of shape {mapped.shape}, expected a row (class, number) a subject"
        )
    table = np.array(mapped)
    numbers = table[:, 1]
    is_whole = np.isfinite(numbers).all() and np.array_equal(numbers, np.floor(numbers))
    if not is_whole or len(np.unique(numbers)) != len(numbers):
        raise DataError(f"{path}: numbers of subjects in the second column must be whole and differ")
    return table


def _label_table(path: Path, description: Description) -> dict[int, int | None]:
    """Return the class of each number; None where the table leaves classes to the windows."""
    table = read_label_table(path)
    numbers = table[:, 1]
    varies = table[:, 0] == VARIES
    labels = dict(zip(numbers[~varies], as_labels(path, table[~varies, 0], description), strict=True))
    return {int(number): int(labels[number]) if number in labels else None for number in numbers}


def _save(path: Path, array: NDArray) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise unwritable(path.parent, error) from error
