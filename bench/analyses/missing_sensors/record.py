"""The record of trained models' macro F1 when channels are missing at test time."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from bench.analyses import contract
from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.analysis_record import AnalysisRecord
from bench.results.field_types import Name
from bench.results.frozen_model import FrozenModel

NAME = "missing-sensors"


class Draws(FrozenModel):
    """Macro F1 with ``n_missing`` channels missing, one entry per draw of channels; all cells share the draws."""

    n_missing: int
    f1: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over draws."""
        return sum(self.f1) / len(self.f1)


class CellRobustness(FrozenModel):
    """One trained cell. ``without`` is its macro F1 without each channel in turn."""

    seed: int
    key: str
    random: tuple[Draws, ...]
    without: tuple[float, ...]

    def with_missing(self, n_missing: int) -> float:
        """Return the mean over draws with that many channels missing."""
        return next(loss.mean for loss in self.random if loss.n_missing == n_missing)


class GroupRobustness(FrozenModel):
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
            {name: value for name, value in group.hyperparameters.items() if name != "channel_dropout"}
            for group in (self, other)
        )
        return same and self.about.changes == other.about.changes and mine == others


class MissingSensorsRecord(AnalysisRecord):
    """All trained groups on one dataset.

    ``lacking`` names the cells absent from the comparison; ``missing_channels`` are the draws, as names of channels.
    """

    dataset: Name
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

    @property
    def stem(self) -> str:
        """Name of its file: the dataset."""
        return self.dataset

    @property
    def analysed(self) -> Sequence[AnalysedCells]:
        """The trained cells that the record describes."""
        return tuple(group.about for group in self.groups)


class Options(contract.CellOptions):
    """Options of ``bench analyze missing-sensors``.

    Each number of missing channels has ``draws`` random choices of channels; windows are drawn by class.
    """

    datasets: str = Field(default="adftd", description="A comma list of datasets with trained cells.")
    models: str = Field(default="medmamba", description="A comma list of trained models.")
    windows: int = Field(default=512, ge=1, description="Number of test windows.")
    draws: int = Field(default=5, ge=1, description="Random draws for each number of missing channels.")
    seed: int = Field(default=41, ge=0, description="Seed of the draw of windows and channels.")
    device: contract.Device = contract.device_field()


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Missing sensors",
    summary="Macro F1 when channels are missing, with and without channel dropout.",
    examples=(
        "bench run --models medmamba --datasets ptb-xl --set channel_dropout=0",
        "bench analyze missing-sensors --datasets ptb-xl --recipe published",
    ),
    options=Options,
    record=MissingSensorsRecord,
    package="bench.analyses.missing_sensors",
)
