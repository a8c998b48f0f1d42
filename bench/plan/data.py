"""The data of cells, from what is prepared: nothing is read but manifests."""

from collections.abc import Sequence

from bench import datasets
from bench.datasets.manifest import Manifest, SubjectSummary
from bench.plan.cell import CellData
from bench.results.record import DataDescription, SplitCounts
from bench.settings import CellSettings


def cell_data(settings: CellSettings, manifest: Manifest) -> CellData:
    """Return the split and the description of a cell's data.

    Raises
    ------
    DataError
        The subjects present cannot be split as asked.
    """
    facts = datasets.facts(settings.dataset)
    split = datasets.make_split(
        settings.dataset, manifest.subjects, how=settings.data.split, seed=settings.data.split_seed
    )
    parts = {
        "train": _counts(manifest.subjects, split.train),
        "validation": _counts(manifest.subjects, split.validation),
        "test": _counts(manifest.subjects, split.test),
    }
    n_train = parts["train"].n_windows
    description = DataDescription(
        title=facts.title,
        kind=manifest.provenance.kind,
        version=manifest.provenance.version,
        fingerprint=manifest.fingerprint,
        normalisation=settings.data.normalisation or facts.normalisation,
        split_origin=split.origin,
        class_names=facts.class_names,
        parts=parts,
        n_train_windows_used=min(n_train, settings.training.max_train_windows or n_train),
        n_skipped_records=manifest.provenance.n_skipped,
    )
    return CellData(split=split, description=description)


def _counts(subjects: Sequence[SubjectSummary], names: tuple[str, ...]) -> SplitCounts:
    chosen = [one for one in subjects if one.name in set(names)]
    per_class = [sum(column) for column in zip(*(one.windows_per_class for one in chosen), strict=True)]
    return SplitCounts(n_subjects=len(chosen), n_windows=sum(per_class), windows_per_class=tuple(per_class))
