"""The data of cells, from the manifests of prepared datasets alone."""

from collections.abc import Mapping, Sequence, Sized
from pathlib import Path

from bench import datasets
from bench.datasets.cache.manifest import Manifest, SubjectSummary
from bench.datasets.simulate.cohort import demo_root
from bench.datasets.simulate.shown import attainable_in
from bench.errors import DataError
from bench.plan.cell import CellData
from bench.results.record import DataDescription, PartName, SplitCounts
from bench.settings import CellSettings
from bench.settings.schema import DataSettings


def cell_data(settings: CellSettings, manifest: Manifest) -> CellData:
    """Return the split and the description of a cell's data.

    Raises
    ------
    DataError
        The subjects present cannot be split as asked.
    """
    facts = datasets.facts(settings.dataset)
    split = datasets.make_split(
        settings.dataset,
        manifest.subjects,
        how=settings.data.split,
        seed=settings.data.split_seed,
        kind=manifest.provenance.kind,
    )
    parts: dict[PartName, SplitCounts] = {
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
        n_times=facts.n_times,
        n_channels=facts.n_channels,
        parts=parts,
        n_train_windows_used=min(n_train, settings.training.max_train_windows or n_train),
        n_skipped_records=manifest.provenance.n_skipped,
        share=manifest.provenance.share,
        remark=manifest.provenance.remark,
        attainable=attainable_in(manifest.provenance.simulator),
    )
    return CellData(split=split, description=description)


def _counts(subjects: Sequence[SubjectSummary], names: tuple[str, ...]) -> SplitCounts:
    chosen = [subject for subject in subjects if subject.name in set(names)]
    per_class = [
        sum(column) for column in zip(*(subject.windows_per_class for subject in chosen), strict=True)
    ]
    return SplitCounts(n_subjects=len(chosen), n_windows=sum(per_class), windows_per_class=tuple(per_class))


def check_all(
    names: Sequence[str], root: Path, *, skip_missing: bool
) -> tuple[dict[str, Manifest | None], list[str]]:
    """Check every dataset before anything is trained.

    Returns
    -------
    manifests, problems
        The manifest of each usable dataset (None: not prepared yet); one line for each skipped dataset.

    Raises
    ------
    DataError
        A dataset is missing or unusable and must not be skipped, or none is left; all of them are named.
    """
    manifests: dict[str, Manifest | None] = {}
    problems: list[str] = []
    for name in names:
        try:
            manifests[name] = datasets.find_prepared(name, root)
        except DataError as error:
            problems.append(f"{name}: {error}")
    _refuse(problems, manifests, skip_missing)
    return manifests, problems


def check_splits(
    manifests: Mapping[str, Manifest | None], data: Mapping[str, DataSettings], *, skip_missing: bool
) -> tuple[dict[str, Manifest | None], list[str]]:
    """Check that the subjects of every prepared dataset can be split as asked.

    Parameters
    ----------
    manifests, data
        The manifest of each dataset, None if it is not prepared yet, and how it is to be split.
    skip_missing
        Skip those that cannot be split.

    Returns
    -------
    manifests, problems
        Those that can be split or are not prepared yet; one line for each that is skipped.

    Raises
    ------
    DataError
        A dataset cannot be split and must not be skipped, or none is left; all of them are named.
    """
    fit: dict[str, Manifest | None] = {}
    problems: list[str] = []
    for name, manifest in manifests.items():
        try:
            if manifest is not None:
                how = data[name]
                datasets.make_split(name, manifest.subjects, how=how.split, seed=how.split_seed)
            fit[name] = manifest
        except DataError as error:
            problems.append(str(error))
    _refuse(problems, fit, skip_missing)
    return fit, problems


def _refuse(problems: Sequence[str], usable: Sized, skip_missing: bool) -> None:
    if problems and not (skip_missing and usable):
        advice = "" if skip_missing else "\nrun the others with --skip-missing"
        raise DataError("\n".join(["datasets cannot be used:", *problems]) + advice)


def check_simulated(names: Sequence[str]) -> dict[str, Manifest | None]:
    """Check the demo's cohorts; None stands for a cohort that is not simulated or prepared yet."""
    root = demo_root()
    return {name: datasets.find_prepared(name, root) if (root / name).exists() else None for name in names}
