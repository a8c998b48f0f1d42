"""The record of each time scale of a trained MedMamba: its frequency response, and macro F1 without it."""

from collections.abc import Sequence

from pydantic import Field

from bench.analyses import contract
from bench.analyses.analysed_cells import AnalysedCells, stem_of
from bench.analyses.analysis_record import AnalysisRecord
from bench.results.frozen_model import FrozenModel

NAME = "scales"


class BranchCell(FrozenModel):
    """One branch of one trained cell.

    Attributes
    ----------
    gain
        Mean squared response of the learned kernels over the record's frequencies, divided by its mean: a white
        kernel, such as an untrained one on average, has 1 everywhere.
    energy
        Share of each frequency in the energy of the kernels' outputs on test windows; sums to 1.
    f1_without, f1_alone
        Macro F1 with this branch silenced, and with all others silenced.
    """

    gain: tuple[float, ...]
    energy: tuple[float, ...]
    f1_without: float
    f1_alone: float


class ScalesCell(FrozenModel):
    """One trained cell: macro F1 untouched, and its branches in the order of the strides."""

    seed: int
    f1: float
    branches: tuple[BranchCell, ...]


class Band(FrozenModel):
    """A range of frequencies, in hertz; it includes ``low_hz`` and excludes ``high_hz``."""

    name: str
    low_hz: float
    high_hz: float

    def total(self, shares: Sequence[float], hz: Sequence[float]) -> float:
        """Return the sum of shares of the frequencies in the band."""
        return sum(self._inside(shares, hz))

    def mean(self, values: Sequence[float], hz: Sequence[float]) -> float | None:
        """Return the mean of values over the frequencies in the band; None if there are none."""
        inside = self._inside(values, hz)
        return sum(inside) / len(inside) if inside else None

    def _inside(self, values: Sequence[float], hz: Sequence[float]) -> list[float]:
        return [
            value
            for value, frequency in zip(values, hz, strict=True)
            if self.low_hz <= frequency < self.high_hz
        ]


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

    @property
    def stem(self) -> str:
        """Name of its file: dataset and model."""
        return stem_of(self.about)

    @property
    def analysed(self) -> Sequence[AnalysedCells]:
        """The trained cells that the record describes."""
        return (self.about,)


class Options(contract.CellOptions):
    """What ``bench analyze scales`` asks for; windows are drawn by class."""

    datasets: str | None = Field(default=None, description="A comma list of names, or all. [default: adftd]")
    models: str | None = Field(
        default=None, description="A comma list of MedMamba and its variants. [default: medmamba]"
    )
    windows: int = Field(default=512, ge=1, description="Number of test windows.")
    seed: int = Field(default=41, ge=0, description="Seed of the draw of windows.")
    device: contract.Device = contract.device_field()


ANALYSIS = contract.Analysis(
    name=NAME,
    title="What the scales see",
    summary="What each branch of MedMamba responds to, and how much it adds to the score.",
    examples=("bench analyze scales", "bench analyze scales --datasets apava --data DIR --out results"),
    options=Options,
    record=ScalesRecord,
    package="bench.analyses.scales",
    is_judged=False,
)
