"""A dataset as arrays, cut along its split by subject: for whoever trains with other tools."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets.cache.prepare import prepare
from bench.datasets.contract import Dataset, DatasetFacts, Normalisation, Provenance, Split
from bench.datasets.loading import load
from bench.datasets.splits import make_split


@dataclass(frozen=True)
class PartArrays:
    """The windows of one part, with the class, subject and source record of each.

    ``windows`` is (n_windows, n_times, n_channels) float32; the others are (n_windows,).
    """

    windows: NDArray[np.float32]
    labels: NDArray[np.int64]
    subject: NDArray[np.str_]
    record: NDArray[np.str_]

    @classmethod
    def of(cls, dataset: Dataset, subjects: tuple[str, ...]) -> "PartArrays":
        """Copy the windows of some subjects out of a dataset."""
        rows = dataset.indices(subjects)
        return cls(dataset.windows[rows], dataset.labels[rows], dataset.subject[rows], dataset.record[rows])


@dataclass(frozen=True, kw_only=True)
class SplitArrays:
    """The three parts of a dataset, with what is known of it.

    ``facts`` has names of classes and channels and the sampling rate; ``provenance`` says whether the data are whole,
    an excerpt or simulated.
    """

    facts: DatasetFacts
    provenance: Provenance
    fingerprint: str
    normalisation: Normalisation
    split: Split
    train: PartArrays
    validation: PartArrays
    test: PartArrays


def load_split(
    name: str, root: Path, *, how: str, seed: int, normalise: bool | Normalisation = True
) -> SplitArrays:
    """Return the windows of a dataset in three parts, scaled as its facts say; they are prepared first if need be.

    Parameters
    ----------
    name
        A registered dataset.
    root
        Folder with one sub-folder per dataset; only read.
    how, seed
        The split, as `make_split` takes it.
    normalise
        As `load` takes it; statistics of channels are those of the training part.

    Raises
    ------
    DataError
        The dataset's folder is missing or unusable, more than 1 percent of its records are damaged, or a part would
        be empty.
    UsageError
        There is no such split.
    """
    manifest = prepare(name, root)
    split = make_split(name, manifest.subjects, how, seed, kind=manifest.provenance.kind)
    dataset = load(name, root, normalise, split)
    return SplitArrays(
        facts=dataset.facts,
        provenance=dataset.provenance,
        fingerprint=dataset.fingerprint,
        normalisation=dataset.normalisation,
        split=split,
        train=PartArrays.of(dataset, split.train),
        validation=PartArrays.of(dataset, split.validation),
        test=PartArrays.of(dataset, split.test),
    )
