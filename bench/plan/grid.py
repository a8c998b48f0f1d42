"""The grid: the product of models, datasets and seeds, with the status of each cell."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from bench.datasets.cache.manifest import Manifest
from bench.plan.ablation_variants import DATASET, ablation_variants
from bench.plan.cell import Cell, cell_name
from bench.plan.data import cell_data
from bench.results.record import Record
from bench.results.store import find_record
from bench.results.twins import find_twin
from bench.settings import CellSettings, Preset, resolve

Status = Literal["done", "to do", "failed", "not prepared"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The cells asked for; ``ablation`` adds the variants of MedMamba on ADFTD if the grid has both."""

    models: Sequence[str]
    datasets: Sequence[str]
    seeds: Sequence[int]
    recipe: str
    preset: Preset
    assignments: Mapping[str, Any]
    ablation: bool = False

    def only(self, datasets: Sequence[str]) -> "Request":
        """Return the same request on some of its datasets."""
        return replace(self, datasets=datasets)

    def settings(self) -> list[CellSettings]:
        """Return the settings of every cell: datasets outermost, so that early results compare models."""
        cells = [
            (model, dataset, seed)
            for dataset in self.datasets
            for seed in self.seeds
            for model in self.models
        ]
        if self.ablation:
            variants = ablation_variants(self.models, self.datasets)
            cells += [(variant, DATASET, seed) for seed in self.seeds for variant in variants]
        return [
            resolve(*cell, recipe_name=self.recipe, preset=self.preset, assignments=self.assignments)
            for cell in cells
        ]


@dataclass(frozen=True)
class PlannedCell:
    """A cell of the grid with its status; ``cell`` is None until its data is prepared.

    The record may belong to another recipe whose cell has the same key.
    """

    settings: CellSettings
    status: Status
    cell: Cell | None = None
    record: Record | None = None


def plan(request: Request, manifests: Mapping[str, Manifest | None], out: Path) -> list[PlannedCell]:
    """Return every cell of a request with its status.

    Parameters
    ----------
    request
        The grid.
    manifests
        The manifest of each dataset; None if it is not prepared yet.
    out
        The results folder.

    Raises
    ------
    DataError
        A dataset's subjects cannot be split as asked.
    NewerSchemaError
        A record was written by a newer version of this package.
    """
    return [_planned(settings, manifests[settings.dataset], out) for settings in request.settings()]


def to_train(cells: Sequence[PlannedCell], *, retry_failed: bool) -> list[PlannedCell]:
    """Return the cells without a record and, if asked, the failed ones."""
    return [
        planned
        for planned in cells
        if planned.status not in ("done", "failed") or (retry_failed and planned.status == "failed")
    ]


def counts(cells: Sequence[PlannedCell]) -> str:
    """Return the number of cells, and the number of each status."""
    by_status = Counter(planned.status for planned in cells)
    return f"{len(cells)} cells: " + ", ".join(f"{n} {status}" for status, n in by_status.items())


def _planned(settings: CellSettings, manifest: Manifest | None, out: Path) -> PlannedCell:
    if manifest is None:
        return PlannedCell(settings, "not prepared")
    cell = Cell.of(settings, cell_data(settings, manifest))
    name = cell_name(settings)
    record = find_record(out, name, cell.key) or find_twin(out, name, cell.key)
    if record is None:
        return PlannedCell(settings, "to do", cell)
    return PlannedCell(settings, "done" if record.is_done else "failed", cell, record)
