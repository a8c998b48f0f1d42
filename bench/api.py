"""What ``import bench`` offers: results, predictions, data, models and runs by one call each (docs/python.md)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.cli.options import default_data, default_results
from bench.errors import RecordError, UsageError

if TYPE_CHECKING:
    import pandas as pd
    from torch import nn

    from bench.datasets.contract import Normalisation
    from bench.datasets.split_arrays import SplitArrays
    from bench.results.predictions import Predictions


def results(out: Path | str) -> "pd.DataFrame":
    """Return the scores of a results folder: a row for each cell, part of the data and metric.

    The columns are those of `bench.studies.tidy.TidyRow`; ``value`` is a fraction of one, NaN where a cell has no
    scores. ``folder`` is the path of the cell's folder, as `predictions` takes it.

    Parameters
    ----------
    out
        Results folder, as ``bench run --out`` writes it.

    Raises
    ------
    RecordError
        There is no record, one cannot be read, or one was written by a newer version of this package.
    """
    frame = _frame(Path(out))
    if frame.empty:
        raise RecordError(f"{out}: no record of a finished cell; run 'bench run --out {out}' first")
    return frame


def predictions(cell: Any) -> "Predictions":
    """Return what a cell predicted on its test windows: logits, probabilities, labels and subjects.

    Parameters
    ----------
    cell
        A row of `results` (by ``iloc`` or ``itertuples``), or the path of a cell's folder.

    Raises
    ------
    RecordError
        There is no such cell, it has no predictions, or a file was changed after it was written.
    """
    from bench.results.predictions import load_predictions
    from bench.results.store import CellFolder, read_record

    folder = CellFolder(Path(getattr(cell, "folder", cell)).absolute())
    return load_predictions(folder.path.parents[3], read_record(folder.record))


def load_dataset(
    name: str,
    *,
    data: Path | str | None = None,
    split: str = "published",
    split_seed: int = 41,
    normalise: "bool | Normalisation" = True,
) -> "SplitArrays":
    """Return a dataset as arrays: its training, validation and test windows, no subject in two of them.

    Parameters
    ----------
    name
        A dataset's name, an imported one's, or a file with a reader such as ``./my_dataset.py``.
    data
        Folder with one sub-folder per dataset; by default BENCH_DATA, else a folder of the user's cache.
    split, split_seed
        As ``--set split=...`` takes it: published, stratified, or ``fold 1/5``; the seed draws the latter two.
    normalise
        True scales the windows as the dataset's facts say, ``window`` and ``channel`` as they say; False not at all.

    Raises
    ------
    DataError
        The dataset's folder is missing, damaged or cannot be split so.
    UsageError
        The name or the split is unknown.
    """
    from bench import datasets
    from bench.datasets.split_arrays import load_split

    root = default_data() if data is None else Path(data)
    datasets.register_imported(root)
    return load_split(
        _single("dataset", name, datasets), root, how=split, seed=split_seed, normalise=normalise
    )


def build(
    name: str,
    n_channels: int,
    n_times: int,
    n_classes: int,
    *,
    dataset: str | None = None,
    **hyperparameters: Any,
) -> "nn.Module":
    """Build a model with its published hyperparameters; its weights are torch's next random numbers.

    Parameters
    ----------
    name
        A model's name, or a file with a class such as ``./my_model.py:MyNet``.
    n_channels, n_times, n_classes
        Shape of the task: inputs are ``(batch, n_times, n_channels)``, logits ``(batch, n_classes)``.
    dataset
        Take the hyperparameters published for this dataset; by default those that are for no dataset in particular.
    **hyperparameters
        Other values for the model's hyperparameters.

    Raises
    ------
    UsageError
        The name, the dataset or a hyperparameter is unknown.
    """
    from bench import datasets
    from bench.models import registry
    from bench.settings import preset, resolve

    model = _single("model", name, registry)
    chosen = preset("paper")
    task = "" if dataset is None else _single("dataset", dataset, datasets)
    published = resolve(model, task, 0, recipe_name=chosen.recipe, preset=chosen, assignments={})
    return registry.build(
        model, n_channels, n_times, n_classes, **{**published.hyperparameters, **hyperparameters}
    )


def run(**options: Any) -> "pd.DataFrame":
    """Train the cells of a grid that are not done, report as ``bench run`` does, and return `results` of its folder.

    Processes that work for a run import the calling script: guard it by ``if __name__ == "__main__"``. A cell that
    fails raises nothing; its rows say so in ``outcome``.

    Parameters
    ----------
    **options
        Those of ``bench run``, with ``_`` for ``-``: ``models=["medmamba"], seeds=[41, 42], set={"epochs": 20}``.

    Raises
    ------
    UsageError
        An option or its value cannot be used.
    DataError
        A dataset is missing or unusable; nothing has been trained.
    """
    from bench.cli.keywords import call
    from bench.cli.run import command

    call(command, options)
    return _frame(Path(options.get("out") or default_results()))


def _frame(out: Path) -> "pd.DataFrame":
    from bench.results.store import read_all
    from bench.studies.tidy import as_frame, tidy_rows

    records, damaged = read_all(out)
    if damaged:
        raise damaged[0]
    frame = as_frame(tidy_rows(records))
    return frame.assign(folder=[str(out / folder) for folder in frame["folder"]])


def _single(kind: str, name: str, registry: Any) -> str:
    """Return the one registered name that a text stands for; a user's own file is registered on the way."""
    from bench.plan.request import chosen_names

    names = chosen_names(kind, name, registry)
    if len(names) != 1 or name == "all":
        raise UsageError(f"'{name}' stands for {len(names)} {kind}s; name a single {kind}")
    return names[0]
