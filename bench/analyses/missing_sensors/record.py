"""The record of how trained models fare when channels are missing at test time."""

from pathlib import Path
from typing import Any

from bench.analyses.analysed import AnalysedCells
from bench.analyses.analysis_record import AnalysisRecord, Part, read_analyses, write_analysis

NAME = "missing-sensors"


class Draws(Part):
    """Macro F1 with so many channels missing, one entry per draw of which; draws are the same for all cells."""

    n_missing: int
    f1: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over draws."""
        return sum(self.f1) / len(self.f1)


class CellRobustness(Part):
    """One trained cell. ``without`` is its macro F1 without each channel in turn."""

    seed: int
    key: str
    random: tuple[Draws, ...]
    without: tuple[float, ...]

    def with_missing(self, n_missing: int) -> float:
        """Return the mean over draws with so many channels missing."""
        return next(one.mean for one in self.random if one.n_missing == n_missing)


class GroupRobustness(Part):
    """Cells that differ in the seed only."""

    about: AnalysedCells
    hyperparameters: dict[str, Any]
    cells: tuple[CellRobustness, ...]

    @property
    def channel_dropout(self) -> float | None:
        """Rate of channel dropout in training, None for a model without it."""
        return self.hyperparameters.get("channel_dropout")

    def is_same_but_for_dropout(self, other: "GroupRobustness") -> bool:
        """Tell whether the cells of both differ in channel dropout and in nothing else."""
        same = self.about.model == other.about.model and self.about.recipe == other.about.recipe
        mine, others = (
            {name: value for name, value in one.hyperparameters.items() if name != "channel_dropout"}
            for one in (self, other)
        )
        return same and self.about.changes == other.about.changes and mine == others


class MissingSensorsRecord(AnalysisRecord):
    """All trained groups on one dataset.

    ``lacking`` says what was not there to be compared; ``missing_channels`` are the draws, as names.
    """

    dataset: str
    channel_names: tuple[str, ...]
    n_subjects: int
    n_windows: int
    n_windows_of_part: int
    windows_per_class: tuple[int, ...]
    draw_seed: int
    n_draws: int
    missing_channels: dict[int, tuple[tuple[str, ...], ...]]
    groups: tuple[GroupRobustness, ...]
    lacking: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of missing channels, ascending from zero."""
        return tuple(sorted(self.missing_channels))


def write_missing_sensors(out: Path, record: MissingSensorsRecord) -> Path:
    """Write a record; an earlier one of the dataset is replaced."""
    return write_analysis(out, NAME, record.dataset, record)


def read_missing_sensors(out: Path) -> list[MissingSensorsRecord]:
    """Return the records of all datasets.

    Raises
    ------
    RecordError
        A file is not such a record.
    """
    return read_analyses(out, NAME, MissingSensorsRecord)
