"""The reader of a dataset that was imported: a folder of windows with its description."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord
from bench.datasets.formats.npy_file import map_npy
from bench.datasets.own.description import DESCRIPTION, Description, read_description
from bench.datasets.own.window_folder import (
    SubjectFile,
    list_subjects,
    read_part,
    window_label_path,
)
from bench.errors import DataError

REVISION = 1

_STRATIFIED = "stratified by class over subjects, 60/20/20 percent, by seed"
_GIVEN = f"given in {DESCRIPTION}"


def is_imported(folder: Path) -> bool:
    """Tell whether a folder is an imported dataset's; one that cannot be looked into, such as `lost+found`, is none."""
    try:
        return (folder / DESCRIPTION).is_file()
    except OSError:
        return False


def reader_of(folder: Path) -> "ImportedReader":
    """Return the reader of an imported dataset's folder, a `Reader` like the modules of the published datasets.

    Raises
    ------
    DataError
        The description, the label table or a feature file's header is unusable.
    """
    description = read_description(folder / DESCRIPTION)
    subjects = list_subjects(folder, description)
    shapes = [map_npy(folder / "Feature" / subject.file).shape for subject in subjects]
    for subject, shape in zip(subjects, shapes, strict=True):
        if len(shape) != 3 or shape[1:] != shapes[0][1:]:
            raise DataError(
                f"{folder / 'Feature' / subject.file}: shape {shape}, but {subjects[0].file} has {shapes[0]}"
            )
    facts = DatasetFacts(
        name=description.name,
        title=description.title,
        version="imported",
        task=description.task,
        class_names=description.class_names,
        channel_names=description.channel_names,
        n_times=shapes[0][1],
        sampling_rate_hz=description.sampling_rate_hz,
        normalisation=description.normalisation,
        n_subjects=len(subjects),
        n_windows=sum(shape[0] for shape in shapes),
        homepage=description.homepage,
        licence=description.licence,
        citation=description.citation,
        split_rule=_STRATIFIED if description.split is None else _GIVEN,
        layout=("dataset.toml", "Feature/feature_NNN.npy", "Label/label.npy"),
        known_problems=("imported windows: how they were cut is not known here",),
    )
    return ImportedReader(facts, description)


@dataclass(frozen=True)
class ImportedReader:
    """Reads one subject's file as one record."""

    FACTS: DatasetFacts
    description: Description
    REVISION: int = REVISION

    def records(self, folder: Path) -> SourceList:
        """List one record per subject, by number.

        Raises
        ------
        DataError
            Feature files and label table disagree.
        """
        return SourceList(
            tuple(
                SourceRecord(
                    name=subject.file.removesuffix(".npy"),
                    subject=subject.name,
                    label=subject.label,
                    paths=_paths(subject),
                )
                for subject in list_subjects(folder, self.description)
            )
        )

    def cut(self, folder: Path, record: SourceRecord) -> Cut:
        """Read a subject's windows, which are cut already.

        Raises
        ------
        DamagedRecord
            The file is damaged, of another shape, or holds values that are not finite.
        """
        number = int(record.name.removeprefix("feature_"))
        subject = SubjectFile(number, record.subject, f"{record.name}.npy", record.label)
        try:
            part = read_part(folder, subject, self.description)
        except DataError as error:
            raise DamagedRecord(str(error)) from error
        n, n_times = part.windows.shape[:2]
        if n_times != self.FACTS.n_times:
            raise DamagedRecord(f"{subject.file}: {n_times} times a window, expected {self.FACTS.n_times}")
        return Cut(part.windows, part.labels, np.full(n, part.subject), np.full(n, record.name))


def _paths(subject: SubjectFile) -> tuple[str, ...]:
    labels = "Label/label.npy" if subject.label is not None else window_label_path(subject.file)
    return DESCRIPTION, labels, f"Feature/{subject.file}"
