"""The data of a grid before its first cell: all of it checked, then prepared."""

from collections.abc import Callable, Sequence
from pathlib import Path

from bench import datasets
from bench.datasets.manifest import Manifest
from bench.errors import DataError

OnRecord = Callable[[str, int, int], None]


def check_all(
    names: Sequence[str], root: Path, *, skip_missing: bool
) -> tuple[dict[str, Manifest | None], list[str]]:
    """Look at every dataset before anything is trained.

    Returns
    -------
    manifests, problems
        What is prepared of each usable dataset (None: not yet); one line for each dataset that is skipped.

    Raises
    ------
    DataError
        A dataset is missing or unusable and is not to be skipped, or none is left; every one is named.
    """
    manifests: dict[str, Manifest | None] = {}
    problems: list[str] = []
    for name in names:
        try:
            manifests[name] = datasets.find_prepared(name, root)
        except DataError as error:
            problems.append(f"{name}: {error}")
    if problems and not (skip_missing and manifests):
        advice = "" if skip_missing else "\nrun the others with --skip-missing"
        raise DataError("\n".join(["datasets cannot be used:", *problems]) + advice)
    return manifests, problems


def prepare_all(
    manifests: dict[str, Manifest | None], root: Path, *, jobs: int, allow_skipped: bool, on_record: OnRecord
) -> dict[str, Manifest]:
    """Cut the windows of every dataset that is not prepared yet.

    Raises
    ------
    DataError
        Too many records of a dataset are damaged.
    """
    return {
        name: manifest
        or datasets.prepare(
            name,
            root,
            jobs=jobs,
            allow_skipped=allow_skipped,
            progress=lambda done, total, name=name: on_record(name, done, total),
        )
        for name, manifest in manifests.items()
    }
