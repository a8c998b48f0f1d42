"""Imports folders of windows that users have, and exports prepared windows in the same form.

Taken in are: DL4mHealth/Medformer's folders (``Feature/feature_*.npy``, ``Label/label.npy``); ``windows.npz`` with
arrays windows, labels and subject; and the same three as ``windows.npy``, ``labels.npy``, ``subject.npy``.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from bench.datasets import registry
from bench.datasets.contract import Dataset, Split
from bench.datasets.formats.npy_file import map_npy, read_npz
from bench.datasets.formats.source_files import file_names, is_folder, is_there
from bench.datasets.own.description import DESCRIPTION, Description, GivenSplit, read_description
from bench.datasets.own.window_folder import (
    VARIES,
    Part,
    as_labels,
    as_windows,
    list_subjects,
    new_folder,
    read_label_table,
    read_part,
    write_parts,
)
from bench.datasets.simulate.marker import read_marker, write_marker
from bench.errors import DataError, UsageError

_ARRAYS = ("windows", "labels", "subject")
# More than any task of this kind has; a damaged table may hold any number.
_MOST_CLASSES = 1000
# Unicode's last code point; numpy fails on others without an error of its own.
_LAST_SIGN = 0x10FFFF


def import_windows(source: Path, root: Path, *, description: Description | None = None) -> Path:
    """Copy a folder of windows to ``root/NAME``, where NAME is the description's, checking all of it.

    Parameters
    ----------
    source
        Folder in one of the forms above; only read.
    root
        Folder with one sub-folder per dataset; must exist.
    description
        What the windows are; None reads ``dataset.toml`` in ``source``.

    Returns
    -------
    Path
        The dataset's folder.

    Raises
    ------
    UsageError
        The name is a published dataset's.
    DataError
        Something in the folder is missing, damaged or contradictory, two subjects have the same windows, or the target
        exists.
    """
    description = description or read_description(source / DESCRIPTION)
    if description.name in registry.names():
        raise UsageError(
            f"name '{description.name}' is a published dataset's; give the windows another, such as "
            f"'{description.name}-windows'"
        )
    target = root / description.name
    with new_folder(target) as folder:
        write_parts(folder, description, _distinct(source, _parts(source, description)))
        simulator = read_marker(source)
        if simulator is not None:
            write_marker(folder, **simulator)
    return target


def export_windows(dataset: Dataset, target: Path, split: Split | None = None) -> None:
    """Write a loaded dataset as a folder of windows that can be imported again.

    Subjects keep their names in ``dataset.toml`` and get numbers in the order of their first window. Simulated
    windows stay marked as such.

    Parameters
    ----------
    dataset
        As loaded; give it unscaled (``normalise=False``) to export windows as cut.
    target
        Folder to make.
    split
        Written into the description, so that what is imported again is split so.

    Raises
    ------
    DataError
        The target exists or cannot be made.
    """
    facts = dataset.facts
    description = Description(
        name=f"{facts.name}-windows",
        title=facts.title,
        task=facts.task,
        class_names=facts.class_names,
        channel_names=facts.channel_names,
        sampling_rate_hz=facts.sampling_rate_hz,
        # What has been scaled per channel already needs no scaling when it comes back.
        normalisation="none" if dataset.normalisation == "channel" else facts.normalisation,
        homepage=facts.homepage,
        licence=facts.licence,
        citation=facts.citation,
        split=None
        if split is None
        else GivenSplit(train=split.train, validation=split.validation, test=split.test),
    )
    with new_folder(target) as folder:
        write_parts(folder, description, _by_subject(dataset.windows, dataset.labels, dataset.subject))
        if dataset.provenance.kind == "simulated":
            write_marker(folder, **dataset.provenance.simulator)


def described(source: Path, *, name: str | None, sampling_rate_hz: float | None) -> Description:
    """Return what the windows of a folder are: as its description says, with another name or rate where given.

    A folder without a description needs both, see `describe`.

    Raises
    ------
    DataError
        The description is unusable, or there is none and the folder cannot be described.
    UsageError
        The name or the rate cannot be used, or one of them is missing.
    """
    if is_there(source / DESCRIPTION):
        given = {"name": name, "sampling_rate_hz": sampling_rate_hz}
        found = read_description(source / DESCRIPTION).model_dump()
        return _checked(found | {field: value for field, value in given.items() if value is not None})
    if name is None and sampling_rate_hz is None:
        return read_description(source / DESCRIPTION)
    if name is None or sampling_rate_hz is None:
        raise UsageError(f"--name and --hz go together where {source} has no {DESCRIPTION}")
    return describe(source, name=name, sampling_rate_hz=sampling_rate_hz)


def _checked(fields: Mapping[str, Any]) -> Description:
    try:
        return Description.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{first['loc'][0]} {first['input']!r}: {first['msg']}") from error


def describe(source: Path, *, name: str, sampling_rate_hz: float) -> Description:
    """Describe a Medformer folder by what can be seen in it: classes and channels are numbered.

    Raises
    ------
    DataError
        The folder is not of that form.
    UsageError
        The name or the rate cannot be used.
    """
    path = source / "Label" / "label.npy"
    table = read_label_table(path)
    first = next(iter(sorted((source / "Feature").glob("feature_*.npy"))), None)
    if first is None or not len(table):
        raise DataError(
            f"{source}: no Feature/feature_*.npy or no rows in Label/label.npy; describe it in a file"
        )
    most = max([table[:, 0].max(), *(_highest(source, number) for number in table[table[:, 0] == VARIES, 1])])
    if not most < _MOST_CLASSES:
        raise DataError(
            f"{path}: label {most:g}; more than {_MOST_CLASSES} classes must be described in a file"
        )
    shape = map_npy(first).shape
    if len(shape) != 3:
        raise DataError(f"{first}: shape {shape}, expected (windows, times, channels)")
    return _checked(
        {
            "name": name,
            "title": f"windows imported from {source.name}",
            "class_names": [f"class {label}" for label in range(max(2, int(most) + 1))],
            "channel_names": [f"channel {i}" for i in range(1, shape[2] + 1)],
            "sampling_rate_hz": sampling_rate_hz,
        }
    )


def _highest(source: Path, number: float) -> float:
    """Return the highest class of a subject whose windows have their own."""
    files = [name for name in file_names(source / "Label") if name.startswith("window_label_")]
    for name in files:
        digits = name.removeprefix("window_label_").removesuffix(".npy")
        if digits.isdecimal() and int(digits) == number:
            labels = map_npy(source / "Label" / name)
            return float(labels.max()) if labels.dtype.kind in "fiu" and labels.size else VARIES
    raise DataError(
        f"{source / 'Label'}: no window_label file of subject {number:g}, whose class is {VARIES}"
    )


def _distinct(source: Path, parts: Iterator[Part]) -> Iterator[Part]:
    """Pass subjects on, and refuse two that have the same windows."""
    owners: dict[bytes, str] = {}
    for part in parts:
        digest = hashlib.sha256(np.ascontiguousarray(part.windows).data).digest()
        owner = owners.setdefault(digest, part.subject)
        if owner != part.subject:
            raise DataError(
                f"{source}: subjects '{owner}' and '{part.subject}' have the same windows; a part of training would "
                "come back in the test: give each subject its own, or leave one out"
            )
        yield part


def _parts(source: Path, description: Description) -> Iterator[Part]:
    """Give the subjects of a folder in whatever form, one at a time."""
    if is_folder(source / "Feature"):
        n_times = None
        for subject in list_subjects(source, description):
            part = read_part(source, subject, description)
            n_times = n_times or part.windows.shape[1]
            if part.windows.shape[1] != n_times:
                path = source / "Feature" / subject.file
                raise DataError(f"{path}: {part.windows.shape[1]} times a window, the first has {n_times}")
            yield part
        return
    path, arrays = _arrays(source)
    labels = as_labels(path, arrays["labels"], description)
    subject = _subject_names(path, arrays["subject"])
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1 or labels.ndim != 1 or not len(labels):
        raise DataError(
            f"{path}: lengths {lengths}; windows, labels and subject must have one entry a window"
        )
    for part in _by_subject(arrays["windows"], labels, subject):
        yield Part(part.subject, as_windows(path, part.windows, description), part.labels)


def _arrays(source: Path) -> tuple[Path, dict[str, NDArray]]:
    path = source / "windows.npz"
    if is_there(path):
        found = read_npz(path, _ARRAYS)
        missing = [name for name in _ARRAYS if name not in found]
        if missing:
            raise DataError(
                f"{path}: no array '{missing[0]}'; of {', '.join(_ARRAYS)} it has {', '.join(found) or 'none'}"
            )
        return path, {name: found[name] for name in _ARRAYS}
    path = source / "windows.npy"
    if not is_there(path):
        raise DataError(f"{source}: no Feature folder, windows.npz or windows.npy in it; nothing to import")
    return path, {name: map_npy(source / f"{name}.npy") for name in _ARRAYS}


def _subject_names(path: Path, array: NDArray) -> NDArray[np.str_]:
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise DataError(
            f"{path}: subject is {array.dtype} of shape {array.shape}, expected text or whole numbers"
        )
    codes = np.ascontiguousarray(array)
    if (
        array.dtype.kind == "U"
        and codes.view(np.dtype("u4").newbyteorder(array.dtype.byteorder)).max() > _LAST_SIGN
    ):
        raise DataError(f"{path}: subject has characters that are not text; save it again")
    names = array.astype(str)
    for name in np.unique(names):
        if not name.strip() or not str(name).isprintable():
            raise DataError(f"{path}: subject {str(name)!r} is not a name")
    return names


def _by_subject(windows: NDArray, labels: NDArray[np.int64], subject: NDArray[np.str_]) -> Iterator[Part]:
    """Give the subjects in the order of their first window; windows keep their order within a subject."""
    names, first, owner = np.unique(subject, return_index=True, return_inverse=True)
    # All positions, subject after subject.
    positions = np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner))[:-1])
    for i in np.argsort(first):
        chosen = positions[i]
        yield Part(str(names[i]), np.asarray(windows[chosen]), labels[chosen])
