"""APAVA: EEG of Alzheimer's disease and healthy people, cut by its publisher in epochs of five seconds.

Source: Escudero et al., Physiological Measurement 27(11):1091, 2006; files on OSF ``jbysn`` (Smith et al., 2017).
Preprocessing: DL4mHealth/Medformer at 446275f, its notebook for APAVA: nine windows of 256 samples, half
overlapping, of each epoch of 1,280. Windows are in the publisher's unit, microvolt.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord
from bench.datasets.formats.npy_file import map_npy
from bench.datasets.formats.source_files import file_names, is_folder, is_there, source_file
from bench.errors import DataError

if TYPE_CHECKING:
    from bench.datasets.formats.matlab import MatArray

REVISION = 1

FACTS = DatasetFacts(
    name="apava",
    title="EEG of Alzheimer's disease and healthy subjects, eyes closed",
    version="OSF jbysn",
    task="Alzheimer's disease or healthy, from one second of EEG",
    class_names=("healthy", "Alzheimer's disease"),
    # The files do not name their channels.
    channel_names=tuple(f"EEG {i}" for i in range(1, 17)),
    n_times=256,
    sampling_rate_hz=256.0,
    normalisation="window",
    n_subjects=23,
    n_windows=5_967,
    homepage="https://osf.io/jbysn",
    licence="not stated by the publisher where we could see it: check before passing the data on",
    citation="Escudero et al., Analysis of electroencephalograms in Alzheimer's disease patients with multiscale "
    "entropy, Physiological Measurement 27(11):1091, 2006, doi:10.1088/0967-3334/27/11/004",
    split_rule="by subject: validation 15, 16, 19, 20; test 1, 2, 17, 18; the others train",
    layout=("preproctrialsNN.mat, one file a subject, 01 to 23", "label.npy, if at hand"),
    known_problems=(
        "four test subjects: one subject moves the accuracy by up to 40 percent",
        "windows of an epoch overlap by half, and subjects have between 1 and 59 epochs",
        "the order of the channels is not in the files",
    ),
)

EPOCH_TIMES, STEP = 1280, 128
# A volt: no head makes as much, a damaged file does.
MAX_UV = 1e6
# Of the 23 subjects, as the published label table has them.
ALZHEIMER = frozenset({1, 3, 6, 8, 9, 11, 12, 13, 15, 17, 19, 21})
LABELS = "label.npy"
# The longest of the 23 files has 59 epochs, 10 MB; its times may be there as well.
_MOST_EPOCHS, _MOST_BYTES = 1000, 2**28
_FILE = re.compile(r"preproctrials([0-9]{1,4})\.mat")


def records(folder: Path) -> SourceList:
    """List one record per subject's file, in order of the number in its name.

    Raises
    ------
    DataError
        There are no such files, two of them are one subject's, or a label is unknown or contradicts the published.
    """
    if not is_folder(folder):
        raise DataError(f"{folder}: no such folder; get the files from {FACTS.homepage}")
    found: dict[int, str] = {}
    for name in file_names(folder):
        match = _FILE.fullmatch(name)
        if not match:
            continue
        subject = int(match[1])
        if subject in found:
            raise DataError(f"{folder}: {found[subject]} and {name} are both subject {subject}; keep one")
        found[subject] = name
    if not found:
        raise DataError(f"{folder}: no preproctrialsNN.mat; this is not APAVA, get it from {FACTS.homepage}")
    labels = _labels(folder)
    for subject, name in found.items():
        if subject not in labels:
            raise DataError(f"{folder / name}: no label is known of subject {subject}; add it to {LABELS}")
    return SourceList(
        tuple(
            SourceRecord(
                name=str(subject), subject=str(subject), label=labels[subject], paths=(found[subject],)
            )
            for subject in sorted(found)
        )
    )


def _labels(folder: Path) -> dict[int, int]:
    """Return the class of each subject: the published ones, and those of ``label.npy`` where it is."""
    labels = {subject: int(subject in ALZHEIMER) for subject in range(1, FACTS.n_subjects + 1)}
    path = folder / LABELS
    if not is_there(path):
        return labels
    for label, subject in _read_label_table(path):
        if not (subject > 0 and subject.is_integer()):
            raise DataError(f"{path}: subject {subject:g} is not a number of a file; get the table again")
        if label not in (0, 1):
            raise DataError(f"{path}: subject {subject:g} has label {label:g}, known are 0 and 1")
        if labels.setdefault(int(subject), int(label)) != label:
            raise DataError(
                f"{path}: subject {subject:g} has label {label:g}, which contradicts the published one"
            )
    return labels


def _read_label_table(path: Path) -> NDArray[np.float64]:
    try:
        table = map_npy(path)
    except DataError as error:
        raise DataError(f"{path}: not a readable .npy table; get it again or remove it") from error
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "uif":
        raise DataError(f"{path}: not a table of two columns, label and subject; get it again or remove it")
    if len(np.unique(table[:, 1])) != len(table):
        raise DataError(f"{path}: a subject has two rows; get it again or remove it")
    return table.astype(np.float64)


def cut(folder: Path, record: SourceRecord) -> Cut:
    """Read one subject's file and cut each epoch into nine windows; records are named ``subject/epoch``, from 1.

    Raises
    ------
    DamagedRecord
        The file is damaged or an epoch is not 16 x 1280 finite numbers.
    """
    from bench.datasets.formats.matlab import MalformedError, unreadable

    path = source_file(folder, record.paths[0], _MOST_BYTES)
    try:
        epochs = np.stack([_checked(path, i + 1, epoch) for i, epoch in enumerate(_read_epochs(path))])
    except MalformedError as error:
        raise unreadable(path, error) from error
    constant = np.flatnonzero((np.ptp(epochs, axis=2) == 0).all(axis=0))
    if len(constant):
        raise DamagedRecord(f"{path.name}: channel {constant[0] + 1} is constant in all epochs")
    views = np.lib.stride_tricks.sliding_window_view(epochs, FACTS.n_times, axis=2)[:, :, ::STEP]
    # (epochs, channels, 9, 256) -> (epochs * 9, 256, channels)
    n_epochs, n_each = len(epochs), views.shape[2]
    windows = views.transpose(0, 2, 3, 1).reshape(-1, FACTS.n_times, FACTS.n_channels).astype(np.float32)
    names = np.repeat([f"{record.name}/{i}" for i in range(1, n_epochs + 1)], n_each)
    of_one = Cut.of_one(windows, record)
    return Cut(of_one.windows, of_one.labels, of_one.subject, names)


def _read_epochs(path: Path) -> "list[MatArray]":
    """Return the epochs of a file: the cells of the field ``trial``, or of the third field as the notebook takes it."""
    from bench.datasets.formats.matlab import read_variables

    structure = read_variables(path, "data", most_bytes=_MOST_BYTES).get("data")
    if structure is None or structure.kind != "structure" or structure.size != 1:
        raise DamagedRecord(f"{path.name}: has no structure 'data'; not a file of APAVA")
    names = structure.field_names()
    if "trial" not in names and len(names) < 3:
        raise DamagedRecord(f"{path.name}: has no structure 'data' with a field 'trial'; not a file of APAVA")
    (trial,) = structure.field("trial" if "trial" in names else names[2])
    if trial.kind != "cell" or not 0 < trial.size <= _MOST_EPOCHS:
        raise DamagedRecord(f"{path.name}: data.trial is not a list of epochs; not a file of APAVA")
    return trial.cells()


def _checked(path: Path, number: int, epoch: "MatArray") -> NDArray[np.float64]:
    shape = (FACTS.n_channels, EPOCH_TIMES)
    if epoch.kind != "numbers" or epoch.shape != shape:
        raise DamagedRecord(
            f"{path.name}: epoch {number} is {epoch.words} instead of numbers of shape {shape}"
        )
    values = epoch.numbers()
    if not (np.abs(values) < MAX_UV).all():
        raise DamagedRecord(
            f"{path.name}: epoch {number} has values NaN, infinite or beyond {MAX_UV:g} microvolt"
        )
    return values.astype(np.float64)
