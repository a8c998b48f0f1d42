"""The base of the records of analyses."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from pydantic import ConfigDict, Field

from bench.analyses.analysed_cells import AnalysedCells, stem_of
from bench.results.frozen_model import FrozenModel


class AnalysisRecord(FrozenModel):
    """Base of the record of one analysis; ``created`` is the time in UTC. A subclass defines ``stem``."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", populate_by_name=True)

    schema_version: Literal[1] = Field(alias="schema", default=1)
    created: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def analysed(self) -> Sequence[AnalysedCells]:
        """The trained cells that the record describes."""
        return ()


class CellsRecord(AnalysisRecord):
    """Base of the record of an analysis of one model on one dataset."""

    cells: AnalysedCells

    @property
    def stem(self) -> str:
        """Name of its file, and of its arrays' if it has any: dataset and model."""
        return stem_of(self.cells)

    @property
    def analysed(self) -> Sequence[AnalysedCells]:
        """The trained cells that the record describes."""
        return (self.cells,)
