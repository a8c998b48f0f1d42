"""Trained cells as analyses need them: their records, their models with weights, and the data they were tested on."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from bench import datasets
from bench.datasets.contract import Dataset, Split
from bench.errors import DataError, RecordError
from bench.files import sha256_of
from bench.models import registry as models
from bench.results.record import PartName, Record
from bench.results.store import CellFolder, read_all
from bench.train.part import Part
from bench.train.seeding import seed_default_generators

_MOST_NAMED = 6
_MOST_REAL_FIRST = ("whole", "converted", "own", "excerpt", "simulated")


@dataclass(frozen=True)
class TrainedData:
    """The dataset and the split of a record, scaled as for its training."""

    dataset: Dataset
    split: Split

    def part(self, name: PartName) -> Part:
        """Return one part; the training part is whole, whatever share of it the recipe used."""
        subjects: tuple[str, ...] = getattr(self.split, name)
        dataset = self.dataset
        return Part(dataset.windows, dataset.labels, dataset.subject, dataset.indices(subjects))


def trained_cells(out: Path, model: str, dataset: str) -> list[Record]:
    """Return the finished cells of a model on a dataset whose weights the current code can run, by recipe and seed.

    They may differ in recipe, settings and data: see `alike`.

    Raises
    ------
    UsageError
        The model is unknown.
    RecordError
        There is no such cell.
    """
    current = models.revision(model)
    done = [record for record in read_all(out)[0] if record.is_done]
    found = [record for record in done if (record.cell.model, record.cell.dataset) == (model, dataset)]
    usable = [record for record in found if record.revisions["model"] == current]
    if not usable:
        old = f"; {len(found)} are of an earlier revision of the model" if found else ""
        raise RecordError(
            f"{out}: no trained {model} on {dataset}{old}; {_there(done)}"
            f"run 'bench run --models {model} --datasets {dataset} --out {out}' first"
        )
    return sorted(usable, key=lambda record: (record.cell.recipe, record.cell.seed, record.timing.started))


def _there(done: Sequence[Record]) -> str:
    """Name the trained networks that there are, to be chosen instead; empty without any."""
    names = sorted(
        {
            f"--models {record.cell.model} --datasets {record.cell.dataset}"
            for record in done
            if not record.is_estimator
        }
    )
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"there are {', '.join(names[:_MOST_NAMED])}{more}; or " if names else ""


def alike(records: Iterable[Record]) -> list[list[Record]]:
    """Sort cells of one model and dataset into lists that differ in nothing but the seed, one record a seed.

    Lists are sorted by how real their data is, then by fewest changed settings, then by size; analyses and reports
    that need a single list take the first.
    """
    groups: dict[str, dict[int, Record]] = defaultdict(dict)
    for record in sorted(records, key=lambda record: record.timing.started):
        groups[_what_seeds_share(record)][record.cell.seed] = record
    sorted_groups = [[group[seed] for seed in sorted(group)] for group in groups.values()]
    return sorted(sorted_groups, key=_preference)


def load_trained(out: Path, record: Record) -> nn.Module:
    """Return the model of a cell with the weights that were tested, on the CPU, in evaluation mode.

    Raises
    ------
    RecordError
        The weights are absent or differ from the record's hash, or the model was revised since.
    """
    path = CellFolder.of(out, record.cell, record.key).weights
    _check_weights(path, record)
    name = record.cell.model
    if record.revisions["model"] != models.revision(name):
        raise RecordError(f"{path}: trained with an earlier revision of {name}; train the cell again")
    model = untrained(record)
    from safetensors.torch import load_file

    try:
        model.load_state_dict(load_file(path))
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise RecordError(f"{path}: not the weights of {name} ({reason}); train the cell again") from error
    return model.eval()


def untrained(record: Record) -> nn.Module:
    """Return the network of a cell with the weights that its training began with, on the CPU, in evaluation mode."""
    data = record.data
    with torch.random.fork_rng(devices=[]):
        seed_default_generators(record.cell.seed)
        model = models.build(
            record.cell.model,
            data.n_channels,
            data.n_times,
            len(data.class_names),
            **record.settings["hyperparameters"],
        )
    return model.eval()


def trained_data(record: Record, root: Path) -> TrainedData:
    """Return the data of a cell, prepared if necessary, with its split and its scaling.

    Parameters
    ----------
    record
        A finished cell.
    root
        Folder with one sub-folder per dataset.

    Raises
    ------
    DataError
        The dataset is missing or unusable, or is not the data that the cell was trained on.
    """
    name, described = record.cell.dataset, record.data
    # Damaged records are accepted here, as the run did; the fingerprint tells whether they are the same.
    manifest = datasets.prepare(name, root, allow_skipped=True)
    if manifest.fingerprint != described.fingerprint:
        raise DataError(
            f"{root / name}: its windows are not those that {record.cell.model} (seed {record.cell.seed}) was trained "
            f"on: fingerprint {manifest.fingerprint[:12]}..., the record has {described.fingerprint[:12]}...; give the "
            "folder of that run with --data"
        )
    data = record.settings["data"]
    split = datasets.make_split(name, manifest.subjects, how=data["split"], seed=data["split_seed"])
    return TrainedData(datasets.load(name, root, described.normalisation, split), split)


def test_part(record: Record, root: Path) -> Part:
    """Return the test part of a cell; see `trained_data`."""
    return trained_data(record, root).part("test")


# pytest collects names that begin with "test" wherever they are imported.
test_part.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]


def _check_weights(path: Path, record: Record) -> None:
    expected = record.files.get(path.name)
    if expected is None:
        raise RecordError(
            f"{path.parent}: the record (outcome {record.outcome}) names no {path.name}; train the cell again"
        )
    if not path.is_file():
        raise RecordError(f"{path}: no such file, though the record names it; restore it or train again")
    found = sha256_of(path)
    if found != expected:
        raise RecordError(
            f"{path}: SHA-256 is {found[:12]}..., the record has {expected[:12]}...; restore it or train again"
        )


def _what_seeds_share(record: Record) -> str:
    settings = record.settings
    shared = {name: settings[name] for name in ("recipe", "training", "hyperparameters", "data")}
    # The trainer's revision counts, since it changes the weights; data and settings determine the split.
    about = [shared, record.data.fingerprint, record.data.normalisation, record.revisions]
    return json.dumps(about, sort_keys=True)


def _preference(group: list[Record]) -> tuple[int, int, int, str]:
    first = group[0]
    return _MOST_REAL_FIRST.index(first.data.kind), len(first.settings["changed"]), -len(group), first.key
