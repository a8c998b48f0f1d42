"""What every dataset file provides, and the types that datasets are made of. Free of torch and of file readers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from bench.errors import DataError

Normalisation = Literal["window", "channel", "none"]
Kind = Literal["whole", "converted", "excerpt", "simulated", "own"]


_LONGEST_LINE = 500


def as_one_line(text: str) -> str:
    """Return a text that may hold anything a file names, printable and of bearable length."""
    signs = (sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[:_LONGEST_LINE])
    return "".join(signs) + ("..." if len(text) > _LONGEST_LINE else "")


class DamagedRecord(Exception):  # noqa: N818 it is a state of the data, met in the ordinary course
    """A record that cannot be used; the reason is one line. Preparing skips and counts it."""

    def __init__(self, reason: str) -> None:
        super().__init__(as_one_line(str(reason)))


def repeated_name(names: Iterable[str]) -> str | None:
    """Return the first name that equals an earlier one but for case and blanks, None if all differ."""
    seen: set[str] = set()
    for name in names:
        folded = " ".join(name.casefold().split())
        if folded in seen:
            return name
        seen.add(folded)
    return None


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """What is known of a published dataset before any file is read.

    ``n_windows``, ``n_subjects`` are those of the whole published dataset after preprocessing; None where
    nobody has published them. ``class_names`` are in label order. ``layout`` says what lies where in its folder.
    ``checked_in_files`` names what its reader compares in every record with these facts and refuses when it differs.
    """

    name: str
    title: str
    version: str
    task: str
    class_names: tuple[str, ...]
    channel_names: tuple[str, ...]
    n_times: int
    sampling_rate_hz: float
    normalisation: Normalisation
    n_subjects: int
    n_windows: int | None
    homepage: str
    licence: str
    citation: str
    split_rule: str
    layout: tuple[str, ...] = ()
    checked_in_files: tuple[Literal["rate", "channels"], ...] = ()
    known_problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse classes that share a name: whoever reads a table could not tell them apart.

        Raises
        ------
        DataError
            Two class names are equal but for case and blanks.
        """
        twice = repeated_name(self.class_names)
        if twice is not None:
            raise DataError(f"{self.name}: two classes are named '{twice}'; give each a name of its own")

    @property
    def n_channels(self) -> int:
        """Number of channels of a window."""
        return len(self.channel_names)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)


@dataclass(frozen=True, kw_only=True)
class SourceRecord:
    """One unit of reading: usually one file or recording of one subject.

    ``label`` is the class of all its windows, or None where labels come with the signal (sleep stages).
    ``paths`` are relative to the dataset's folder.
    """

    name: str
    subject: str
    label: int | None
    paths: tuple[str, ...]


@dataclass(frozen=True)
class SourceList:
    """All records of a dataset's folder in reading order, and those left out with the reason.

    ``excluded`` is the protocol at work (a patient with two diagnoses), not damage.
    """

    records: tuple[SourceRecord, ...]
    excluded: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Cut:
    """The windows of one source record, as cut, before any scaling of DESIGN.md's table.

    ``windows`` is ``(n, n_times, n_channels)`` float32; the next three have one entry per window. ``remarks`` say
    what was mended or could not be checked, one line each.
    """

    windows: NDArray[np.float32]
    labels: NDArray[np.int64]
    subject: NDArray[np.str_]
    record: NDArray[np.str_]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of_one(
        cls, windows: NDArray[np.float32], source: SourceRecord, *, remarks: tuple[str, ...] = ()
    ) -> "Cut":
        """Label all windows of a record alike, with the record's own subject and name.

        Raises
        ------
        DataError
            The record has no label of its own.
        """
        if source.label is None:
            raise DataError(f"{source.name}: label is None; give the record one, or a label to each window")
        n = len(windows)
        labels = np.full(n, source.label)
        return cls(windows, labels, np.full(n, source.subject), np.full(n, source.name), remarks)


class Reader(Protocol):
    """What a dataset's module provides.

    It may have ``LIBRARIES`` as well, the packages whose code its windows rest on: another version of one of them
    prepares the windows anew. ``KNOWN_COPIES`` are the names of records that the publisher has found to be copies of
    another subject's; any other copy counts as damaged. A reader whose `cut` scales whole recordings has
    ``scale_of(folder, record)``, which gives the mean and the deviation of each channel that it scales by.
    """

    @property
    def FACTS(self) -> DatasetFacts:  # noqa: N802
        """What is known of the dataset before any file is read."""
        ...

    @property
    def REVISION(self) -> int:  # noqa: N802
        """Bumped when a change can alter the windows."""
        ...

    def records(self, folder: Path) -> SourceList:
        """List what there is to read, cheaply: tables and file names only, no signals.

        Raises
        ------
        DataError
            A needed table is missing or unusable, or the folder is another dataset.
        """
        ...

    def cut(self, folder: Path, record: SourceRecord) -> Cut:
        """Read one record and cut it into windows; must be picklable and need nothing else.

        Raises
        ------
        DamagedRecord
            The record cannot be used; one line says why.
        """
        ...


@dataclass(frozen=True)
class Split:
    """Three disjoint sets of subjects, in the source's own names.

    ``origin`` is ``published`` (the list that the published results used), ``ours`` (a whole dataset for which none
    is published), ``rule`` (the same rule applied to the subjects present), or how else it was made, such as
    ``stratified-41`` or ``fold-1/5-41``.
    """

    origin: str
    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a subject in two parts.

        Raises
        ------
        DataError
            The parts are not disjoint.
        """
        require_disjoint(train=self.train, validation=self.validation, test=self.test)


def require_disjoint(**parts: tuple[str, ...] | NDArray[np.str_]) -> None:
    """Refuse parts that share a subject.

    Raises
    ------
    DataError
        Two parts share a subject; the message names them.
    """
    seen: dict[str, str] = {}
    for part, subjects in parts.items():
        for subject in map(str, np.unique(np.asarray(subjects, dtype=str))):
            if subject in seen:
                raise DataError(
                    f"subject '{subject}' is in both the {seen[subject]} and the {part} part; parts must be disjoint"
                )
            seen[subject] = part


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where the windows come from. ``kind`` is computed from what was found, never claimed by a caller.

    ``own`` are a user's: imported, or read by a user's reader, so that nothing published tells whether they are whole.
    ``converted`` is said by a file beside the data, which may give a ``remark``. ``share`` is the fraction of the
    published windows that are there, None where nobody knows it.
    """

    kind: Kind
    version: str
    n_subjects: int
    n_records: int
    n_windows: int
    n_skipped: int = 0
    simulator: Mapping[str, str | int | float] = field(default_factory=dict)
    share: float | None = None
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Windows of a dataset with the class, subject and source record of each.

    ``windows`` is ``(n, n_times, n_channels)`` float32, possibly memory-mapped; ``labels`` int64; ``subject`` and
    ``record`` hold the source's names. ``fingerprint`` is the hash of the windows as cut, with labels, subjects and
    records. ``normalisation`` says what was done to ``windows`` since.
    """

    facts: DatasetFacts
    windows: NDArray[np.float32]
    labels: NDArray[np.int64]
    subject: NDArray[np.str_]
    record: NDArray[np.str_]
    fingerprint: str
    normalisation: Normalisation
    provenance: Provenance

    def indices(self, subjects: tuple[str, ...]) -> NDArray[np.int64]:
        """Return the positions of all windows of the given subjects, in stored order."""
        return np.flatnonzero(np.isin(self.subject, np.asarray(subjects, dtype=str)))
