"""The predictions of a cell: logits of every test window with its true label and subject, checked when read.

`predictions.npz` holds logits (n_windows, n_classes) float32, label (n_windows,) int64, and subject, record
(names) and window (position in the dataset), each (n_windows,). It is read without pickles.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.formats.npy_file import read_npz
from bench.errors import DataError, RecordError
from bench.files import sha256_of
from bench.results.record import DataDescription, Record
from bench.results.store import CellFolder

REMEDY = "remove the cell's record.json to have it trained again"

_KINDS = {"logits": "f", "label": "iu", "subject": "U", "record": "U", "window": "iu"}
# The widest number of numpy, a name as long as a file's can be in its four bytes a sign, and five headers.
_NUMBER_BYTES, _NAME_BYTES, _HEADER_BYTES = 16, 4 * 255, 5 * 2**16


@dataclass(frozen=True)
class Predictions:
    """Predictions of one cell on its test windows, in the order of the split.

    Shapes: logits (n_windows, n_classes); the others (n_windows,).
    """

    logits: NDArray[np.floating]
    label: NDArray[np.integer]
    subject: NDArray[np.str_]
    record: NDArray[np.str_]
    window: NDArray[np.integer]

    @cached_property
    def predicted(self) -> NDArray[np.intp]:
        """The class with the largest logit, the first of equals."""
        return self.logits.argmax(axis=1)

    @cached_property
    def probability(self) -> NDArray[np.float64]:
        """Softmax of the logits, (n_windows, n_classes)."""
        shifted = self.logits.astype(np.float64)
        shifted = np.exp(shifted - shifted.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    def same_windows(self, other: "Predictions") -> bool:
        """Tell whether both have the same windows in the same order."""
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("window", "label", "subject")
        )


def load_predictions(out: Path, record: Record) -> Predictions:
    """Return the predictions of a finished cell.

    Raises
    ------
    RecordError
        The file is absent, has another hash than the record says, or does not fit the record.
    """
    path = CellFolder.of(out, record.cell, record.key).predictions
    expected = record.files.get(path.name)
    if expected is None:
        raise RecordError(
            f"{path.parent}: the record (outcome {record.outcome}) names no {path.name}; {REMEDY}"
        )
    if not path.is_file():
        raise RecordError(f"{path}: no such file, though the record names it; restore it, or {REMEDY}")
    try:
        found = sha256_of(path)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror}); get permission to read it") from error
    if found != expected:
        raise RecordError(
            f"{path}: SHA-256 is {found[:12]}..., the record has {expected[:12]}...; restore the file, or {REMEDY}"
        )
    predictions = read_predictions(path, largest_of(record.data))
    _require_fit(path, record.data, predictions)
    return predictions


def largest_of(data: DataDescription) -> int:
    """Return the most bytes that the arrays of predictions on a test part can have."""
    a_window = _NUMBER_BYTES * (len(data.class_names) + 2) + 2 * _NAME_BYTES
    return data.parts["test"].n_windows * a_window + _HEADER_BYTES


def read_predictions(path: Path, most_bytes: float = math.inf) -> Predictions:
    """Read and check one file.

    Raises
    ------
    RecordError
        The file is not readable without pickles, lacks an array, its arrays do not fit each other, or have together
        more than ``most_bytes``.
    """
    try:
        arrays = read_npz(path, _KINDS, most_bytes)
    except DataError as error:
        raise RecordError(f"{path}: not readable as predictions ({error.__cause__}); {REMEDY}") from error
    _check(path, arrays)
    return Predictions(**arrays)


def _require_fit(path: Path, data: DataDescription, predictions: Predictions) -> None:
    """Refuse predictions of other classes, windows or numbers of subjects than the record counts in its test part."""
    part, n_classes = data.parts["test"], len(data.class_names)
    _require(path, "logits", n_classes, predictions.logits.shape[1], "classes")
    _require(path, "logits", part.n_windows, len(predictions.logits), "windows")
    _require(path, "subject", part.n_subjects, len(np.unique(predictions.subject)), "subjects")
    counts = np.bincount(predictions.label.astype(np.int64), minlength=n_classes)
    for name, expected, found in zip(data.class_names, part.windows_per_class, counts, strict=True):
        _require(path, "label", expected, int(found), f"windows of class '{name}'")


def _check(path: Path, arrays: dict[str, NDArray]) -> None:
    missing = [name for name in _KINDS if name not in arrays]
    if missing:
        raise RecordError(f"{path}: no array {', '.join(missing)}; {REMEDY}")
    for name, kinds in _KINDS.items():
        array = arrays[name]
        if array.dtype.kind not in kinds:
            raise RecordError(f"{path}: array '{name}' is of type {array.dtype}; {REMEDY}")
        if array.ndim != (2 if name == "logits" else 1):
            raise RecordError(f"{path}: array '{name}' has shape {array.shape}; {REMEDY}")
        _require(path, name, len(arrays["label"]), len(array), "windows")
    logits, label = arrays["logits"], arrays["label"]
    if not len(label):
        raise RecordError(f"{path}: no test window; {REMEDY}")
    if not np.isfinite(logits).all():
        raise RecordError(f"{path}: array 'logits' has numbers that are not finite; {REMEDY}")
    if label.min() < 0 or label.max() >= logits.shape[1]:
        raise RecordError(
            f"{path}: array 'label' has classes {label.min()} to {label.max()}, "
            f"array 'logits' has {logits.shape[1]} columns; {REMEDY}"
        )


def _require(path: Path, name: str, expected: int, found: int, unit: str) -> None:
    if expected != found:
        raise RecordError(f"{path}: array '{name}' has {found} {unit}, expected {expected}; {REMEDY}")
