"""The record of how centralized the signals of one dataset are, under every reading of the paper's two indices."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from bench.analyses import contract
from bench.analyses.analysis_record import AnalysisRecord
from bench.results.field_types import Count, Line, Name, Size
from bench.results.frozen_model import FrozenModel

NAME = "centralization"

Index = Literal["sci", "dic"]
Unit = Literal["window", "recording"]
Scaling = Literal["raw", "unscaled", "standardised", "standardised over the recording"]
"""``raw`` is as cut, ``unscaled`` in the units of the source; they differ where a reader scales whole recordings."""

Reading = Literal["as printed", "mean removed", "least squares"]


class Choice(FrozenModel):
    """One choice of unit, scaling and formula, which the paper leaves open.

    ``reading`` is the formula of DIC's transition matrix; SCI has one reading.
    """

    index: Index
    unit: Unit
    scaling: Scaling
    reading: Reading

    @property
    def label(self) -> str:
        """Its name in tables."""
        reading = "" if self.index == "sci" else f", {self.reading}"
        return f"{self.unit}, {self.scaling}{reading}"


class Measure(FrozenModel):
    """An index under one choice: mean over units, deviation over units, interval of the mean over blocks.

    ``n_units`` were averaged; for ``n_undefined`` the index is undefined (no variance at all). With fewer than two
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
    """One dataset. ``blocks`` names what the interval resamples: subjects, or weeks of a series."""

    dataset: Name
    title: Line
    kind: Literal["whole", "converted", "excerpt", "simulated", "own"]
    version: Line
    fingerprint: Line
    n_channels: Size
    n_times: Size
    n_windows: Count
    n_recordings: Count
    blocks: Literal["subjects", "weeks"]
    n_blocks: int
    level: float
    n_resamples: int
    seed: int
    measures: tuple[Measure, ...]
    remarks: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """Name of its file: the dataset."""
        return self.dataset

    def measure(self, choice: Choice) -> Measure | None:
        """Return the measure under a choice, None where no unit has one."""
        return next((measure for measure in self.measures if measure.choice == choice), None)


def choices(records: Sequence[CentralizationRecord], index: Index) -> list[Choice]:
    """Return the choices of an index that any record has, in the order of the records."""
    return list(
        dict.fromkeys(
            measure.choice
            for record in records
            for measure in record.measures
            if measure.choice.index == index
        )
    )


class Options(contract.Options):
    """What ``bench analyze centralization`` asks for."""

    datasets: str = Field(default="all", description="A comma list of names, or all datasets that are there.")
    simulated: bool = Field(
        default=False, description="Use the demo's simulated data instead; Weather has none."
    )
    weather_window: int = Field(
        default=96,
        ge=2,
        description="Length of Weather's windows, which the paper does not give. A step is ten minutes.",
        json_schema_extra={"metavar": "STEPS"},
    )
    seed: int = Field(default=41, ge=0, description="Seed of the bootstrap.")


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Centralization",
    summary="How centralized signals are (SCI, DIC), beside the published table.",
    examples=(
        "bench analyze centralization --data DIR",
        "bench analyze centralization --datasets ptb-xl,weather --data DIR",
    ),
    options=Options,
    record=CentralizationRecord,
    package="bench.analyses.centralization",
)
