"""The record of how centralized the signals of one dataset are, under every reading of the paper's two indices."""

from pathlib import Path
from typing import Literal

from bench.analyses.analysis_record import AnalysisRecord, Part, read_analyses, write_analysis

NAME = "centralization"

Index = Literal["sci", "dic"]
Unit = Literal["window", "recording"]
Scaling = Literal["raw", "standardised", "standardised over the recording"]
Reading = Literal["as printed", "mean removed", "least squares"]


class Choice(Part):
    """One answer to what the paper leaves open.

    ``reading`` is how the transition matrix of DIC is had; SCI has one reading.
    """

    index: Index
    unit: Unit
    scaling: Scaling
    reading: Reading

    @property
    def label(self) -> str:
        """How tables call it."""
        reading = "" if self.index == "sci" else f", {self.reading}"
        return f"{self.unit}, {self.scaling}{reading}"


class Measure(Part):
    """An index under one choice: mean over units, deviation over units, interval of the mean over blocks.

    ``n_units`` were averaged; of ``n_undefined`` the index does not exist (no variance at all). Without at least two
    blocks there is no interval.
    """

    choice: Choice
    mean: float
    std: float | None
    low: float | None
    high: float | None
    n_units: int
    n_undefined: int


class CentralizationRecord(AnalysisRecord):
    """One dataset. ``blocks`` says what the interval resamples: subjects, or weeks of a series."""

    dataset: str
    title: str
    kind: Literal["whole", "excerpt", "simulated", "own"]
    version: str
    fingerprint: str
    n_channels: int
    n_times: int
    n_windows: int
    n_recordings: int
    blocks: Literal["subjects", "weeks"]
    n_blocks: int
    level: float
    n_resamples: int
    seed: int
    measures: tuple[Measure, ...]
    remarks: tuple[str, ...] = ()

    def measure(self, choice: Choice) -> Measure | None:
        """Return the measure under a choice, None where no unit has one."""
        return next((one for one in self.measures if one.choice == choice), None)


def write_centralization(out: Path, record: CentralizationRecord) -> Path:
    """Write a record; an earlier one of the dataset is replaced."""
    return write_analysis(out, NAME, record.dataset, record)


def read_centralization(out: Path) -> list[CentralizationRecord]:
    """Return the records of all datasets.

    Raises
    ------
    RecordError
        A file is not such a record.
    """
    return read_analyses(out, NAME, CentralizationRecord)
