"""What an analysis gets: the results folder, its trained cells, their data, and where to write records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from numpy.typing import NDArray

from bench import datasets
from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.arrays import write_arrays
from bench.analyses.contract import Analysis, ChosenCells, SavedRecord, Say
from bench.analyses.store import write
from bench.analyses.trained import alike, trained_cells
from bench.datasets.simulate.cohort import demo_root
from bench.errors import RecordError
from bench.plan.request import chosen_names, chosen_networks
from bench.results.record import Record


@dataclass(frozen=True)
class Context:
    """One run of an analysis.

    Attributes
    ----------
    analysis, out
        The analysis, and the results folder that it reads and writes.
    data
        Folder with one sub-folder per dataset, if the user gave one.
    default_data
        Where datasets are looked for otherwise.
    say
        Called with each line of progress.
    written
        Called with the path of every record written.
    """

    analysis: Analysis
    out: Path
    data: Path | None
    default_data: Path
    say: Say
    written: Callable[[Path], object] = lambda _: None

    def write(self, record: SavedRecord) -> None:
        """Write a finished record."""
        self.written(write(self.out, self.analysis, record))

    def write_arrays(self, stem: str, arrays: Mapping[str, NDArray]) -> str:
        """Write the arrays that belong to the record of this stem; return the SHA-256 of their file for the record."""
        return write_arrays(self.analysis.folder_in(self.out), stem, arrays)

    def root_for(self, records: Sequence[Record]) -> Path:
        """Return the folder with the cells' data: the user's, else that of simulated data, else the default."""
        if self.data is not None:
            return self.data
        if all(record.data.kind == "simulated" for record in records):
            return demo_root()
        return self.default_data

    def dataset_names(self, text: str) -> list[str]:
        """Return the datasets of a comma list, as ``bench run`` reads it: imported ones and files of readers included.

        Raises
        ------
        UsageError
            A name is unknown.
        """
        self._register_own()
        return chosen_names("dataset", text, datasets)

    def groups(self, model: str, dataset: str, recipe: str | None) -> list[list[Record]]:
        """Return the cells of a model on a dataset in groups that differ in the seed alone, sorted as `alike` does.

        Cells trained on the user's data come before all others.

        Raises
        ------
        UsageError
            The model or the dataset is unknown.
        RecordError
            There is no such cell.
        DataError
            The data are missing or unusable.
        """
        self._register_own()
        datasets.entry(dataset)
        cells = trained_cells(self.out, model, dataset)
        groups = alike(record for record in cells if recipe in (None, record.cell.recipe))
        if not groups:
            raise RecordError(
                f"{self.out}: no trained {model} on {dataset} of recipe '{recipe}', only of "
                f"{', '.join(sorted({record.cell.recipe for record in cells}))}; choose another --recipe"
            )
        if self.data is not None:
            there = datasets.prepare(dataset, self.data).fingerprint
            groups.sort(key=lambda group: group[0].data.fingerprint != there)
        return groups

    def cells(self, model: str, dataset: str, recipe: str | None) -> list[Record]:
        """Return the first of `groups`, and report the choice if there are several."""
        first, *others = self.groups(model, dataset, recipe)
        if others:
            taken = AnalysedCells.of(first)
            changed = f", changed: {taken.changes}" if taken.changes else ""
            self.say(
                f"{model} on {dataset}: takes recipe {taken.recipe}{changed}, {taken.data.kind} data, seeds "
                f"{', '.join(map(str, taken.seeds))}; leaves out {len(others)} other groups of cells (choose by "
                "--recipe, --data or --out)"
            )
        return first

    def chosen(
        self, options: ChosenCells, *, default_models: str, default_datasets: str
    ) -> list[list[Record]]:
        """Return the `cells` of each model on each dataset; named ones must exist, absent defaults are skipped.

        Raises
        ------
        UsageError
            A name is unknown.
        RecordError
            There are no such cells.
        """
        found: dict[tuple[str, str], list[Record]] = {}
        missing: dict[tuple[str, str], RecordError] = {}
        for dataset in self.dataset_names(options.datasets or default_datasets):
            for model in model_names(options.models or default_models):
                try:
                    found[model, dataset] = self.cells(model, dataset, options.recipe)
                except RecordError as error:
                    missing[model, dataset] = error
        models_found, datasets_found = {model for model, _ in found}, {dataset for _, dataset in found}
        for (model, dataset), error in missing.items():
            is_wanted = (
                not found
                or (options.models and options.datasets)
                or (options.models and model not in models_found)
                or (options.datasets and dataset not in datasets_found)
            )
            if is_wanted:
                raise error
            self.say(f"left out: {error}")
        return list(found.values())

    def _register_own(self) -> None:
        datasets.register_imported(self.data or self.default_data)


def model_names(text: str) -> list[str]:
    """Return the networks in a comma list; ``all`` stands for the paper's.

    Raises
    ------
    UsageError
        A name is unknown, or all are estimators', whose fitted state is not kept.
    """
    return chosen_networks(text)


def trained_on(records: Iterable[Record], model: str) -> list[str]:
    """Return the datasets that a model has finished cells on, sorted."""
    return sorted({r.cell.dataset for r in records if r.is_done and r.cell.model == model})
