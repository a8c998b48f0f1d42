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
from bench.plan.tuning import best, chosen, results_root
from bench.results.record import Record
from bench.results.store import find_record
from bench.results.twins import find_twin
from bench.settings import CellSettings, Preset, resolve
from bench.settings.candidates import Candidate
from bench.settings.resolve import Control, candidates_of
from bench.settings.schema import DataSettings, Tuned
from bench.settings.tables import recipe

Status = Literal["done", "to do", "failed", "not prepared", "needs tuning"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The cells asked for; ``ablation`` adds the variants of MedMamba on ADFTD if the grid has both.

    ``configurations`` is how many a recipe with a search tries for each model, None for a recipe without. Under a
    ``control`` all cells are trained so that nothing can be learned; those that try configurations are not.
    """

    models: Sequence[str]
    datasets: Sequence[str]
    seeds: Sequence[int]
    recipe: str
    preset: Preset
    assignments: Mapping[str, Any]
    ablation: bool = False
    configurations: int | None = None
    control: Control | None = None

    def only(self, datasets: Sequence[str]) -> "Request":
        """Return the same request on some of its datasets."""
        return replace(self, datasets=datasets)

    def cells(self) -> list[tuple[str, str, int]]:
        """Return model, dataset and seed of every cell: datasets outermost, so that early results compare models."""
        cells = [
            (model, dataset, seed)
            for dataset in self.datasets
            for seed in self.seeds
            for model in self.models
        ]
        if self.ablation:
            variants = ablation_variants(self.models, self.datasets)
            cells += [(variant, DATASET, seed) for seed in self.seeds for variant in variants]
        return cells

    def settings(self) -> list[CellSettings]:
        """Return the settings of every cell; under a recipe with a search with the first configuration."""
        return [self.resolved(*cell, self._first(*cell[:2])) for cell in self.cells()]

    def resolved(self, model: str, dataset: str, seed: int, candidate: Candidate | None) -> CellSettings:
        """Return the settings of one cell, with a configuration of a recipe with a search."""
        return resolve(
            model,
            dataset,
            seed,
            recipe_name=self.recipe,
            preset=self.preset,
            assignments=self.assignments,
            candidate=candidate,
        )

    def data(self) -> dict[str, DataSettings]:
        """Return how each dataset is to be split and scaled, the same for every model."""
        model, seed = self.models[0], self.seeds[0]
        return {
            name: self.resolved(model, name, seed, self._first(model, name)).data for name in self.datasets
        }

    def candidates(self, model: str, dataset: str) -> tuple[Candidate, ...]:
        """Return the configurations to try for a model; none under a recipe without a search."""
        if self.configurations is None:
            return ()
        return candidates_of(model, dataset, self.recipe, self.configurations)

    def _first(self, model: str, dataset: str) -> Candidate | None:
        return next(iter(self.candidates(model, dataset)), None)


@dataclass(frozen=True)
class PlannedCell:
    """A cell of the grid with its status; ``cell`` is None until its data is prepared and its configuration chosen.

    The record may belong to another recipe whose cell has the same key.
    """

    settings: CellSettings
    status: Status
    cell: Cell | None = None
    record: Record | None = None


def plan(request: Request, manifests: Mapping[str, Manifest | None], out: Path) -> list[PlannedCell]:
    """Return every cell of a request with its status, after the cells that try configurations for it.

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
    found: list[PlannedCell] = []
    tried: dict[tuple[str, str], list[PlannedCell]] = {}
    for model, dataset, seed in request.cells():
        manifest = manifests[dataset]
        if (model, dataset) not in tried:
            tried[model, dataset] = _tried(request, model, dataset, manifest, out)
            found.extend(tried[model, dataset])
        found.append(_final(request, (model, dataset, seed), tried[model, dataset], manifest, out))
    return found


def _tried(
    request: Request, model: str, dataset: str, manifest: Manifest | None, out: Path
) -> list[PlannedCell]:
    """Return the cells that try a model's configurations; none where there is no choice."""
    options = request.candidates(model, dataset)
    search = recipe(request.recipe).search
    if search is None or len(options) == 1:
        return []
    cells = [request.resolved(model, dataset, search.training_seed, option) for option in options]
    return [
        _planned(settings.model_copy(update={"candidate": option.number}), manifest, out)
        for settings, option in zip(cells, options, strict=True)
    ]


def _final(
    request: Request,
    name: tuple[str, str, int],
    tried: Sequence[PlannedCell],
    manifest: Manifest | None,
    out: Path,
) -> PlannedCell:
    """Return a cell of the grid, with the best of the configurations tried for it."""
    options = request.candidates(*name[:2])
    control = {"control": request.control}
    if not options:
        return _planned(request.resolved(*name, None).model_copy(update=control), manifest, out)
    records = [cell.record for cell in tried if cell.record is not None]
    tuned = Tuned(chosen=1, tried=len(options)) if len(records) < len(tried) or not tried else best(records)
    settings = request.resolved(*name, chosen(options[tuned.chosen - 1], tuned))
    settings = settings.model_copy(update={"tuned": tuned} | control)
    if len(records) < len(tried):
        return PlannedCell(settings, "needs tuning")
    if tuned.failed == tuned.tried:
        return PlannedCell(settings, "failed")
    return _planned(settings, manifest, out)


def to_train(cells: Sequence[PlannedCell], *, retry_failed: bool) -> list[PlannedCell]:
    """Return the cells without a record and, if asked, the failed ones; what needs tuning first is left out."""
    wanted = {"to do", "not prepared", *(["failed"] if retry_failed else [])}
    return [planned for planned in cells if planned.status in wanted]


def counts(cells: Sequence[PlannedCell]) -> str:
    """Return the number of cells, and the number of each status."""
    by_status = Counter(planned.status for planned in cells)
    return f"{len(cells)} cells: " + ", ".join(f"{n} {status}" for status, n in by_status.items())


def _planned(settings: CellSettings, manifest: Manifest | None, out: Path) -> PlannedCell:
    if manifest is None:
        return PlannedCell(settings, "not prepared")
    cell = Cell.of(settings, cell_data(settings, manifest))
    name = cell_name(settings)
    root = results_root(out, settings)
    record = find_record(root, name, cell.key) or find_twin(root, name, cell.key)
    if record is None:
        return PlannedCell(settings, "to do", cell)
    return PlannedCell(settings, "done" if record.is_done else "failed", cell, record)
