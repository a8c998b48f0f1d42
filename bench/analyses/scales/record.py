"""The record of what each time scale of a trained MedMamba responds to, and what it is worth."""

from collections.abc import Sequence
from pathlib import Path

from bench.analyses.analysed import AnalysedCells
from bench.analyses.analysis_record import AnalysisRecord, Part, read_analyses, write_analysis

NAME = "scales"


class BranchCell(Part):
    """One branch of one trained cell.

    Attributes
    ----------
    gain
        Mean squared response of the learned kernels over the record's frequencies, divided by its mean: a white
        kernel, as before training in expectation, has 1 everywhere.
    energy
        Share of the energy of the kernels' outputs on test windows that each frequency brings; sums to 1.
    f1_without, f1_alone
        Macro F1 with this branch silenced, and with all others silenced.
    """

    gain: tuple[float, ...]
    energy: tuple[float, ...]
    f1_without: float
    f1_alone: float


class ScalesCell(Part):
    """One trained cell: macro F1 untouched, and its branches in the order of the strides."""

    seed: int
    f1: float
    branches: tuple[BranchCell, ...]


class Band(Part):
    """A range of frequencies, in hertz; ``low`` belongs to it, ``high`` does not."""

    name: str
    low_hz: float
    high_hz: float

    def total(self, shares: Sequence[float], hz: Sequence[float]) -> float:
        """Return the sum of shares of the frequencies in the band."""
        return sum(self._inside(shares, hz))

    def mean(self, values: Sequence[float], hz: Sequence[float]) -> float | None:
        """Return the mean of values over the frequencies in the band; None where it has none."""
        inside = self._inside(values, hz)
        return sum(inside) / len(inside) if inside else None

    def _inside(self, values: Sequence[float], hz: Sequence[float]) -> list[float]:
        return [value for value, one in zip(values, hz, strict=True) if self.low_hz <= one < self.high_hz]


class ScalesRecord(AnalysisRecord):
    """All seeds of one model on one dataset. ``frequencies_hz`` run from 0 to half the sampling rate."""

    about: AnalysedCells
    is_eeg: bool
    sampling_rate_hz: float
    n_times: int
    strides: tuple[int, ...]
    frequencies_hz: tuple[float, ...]
    bands: tuple[Band, ...]
    n_windows: int
    n_windows_of_part: int
    windows_per_class: tuple[int, ...]
    cells: tuple[ScalesCell, ...]


def write_scales(out: Path, record: ScalesRecord) -> Path:
    """Write a record; an earlier one of the model and dataset is replaced."""
    return write_analysis(out, NAME, f"{record.about.model}-{record.about.dataset}", record)


def read_scales(out: Path) -> list[ScalesRecord]:
    """Return the records of all models and datasets.

    Raises
    ------
    RecordError
        A file is not such a record.
    """
    return read_analyses(out, NAME, ScalesRecord)
