"""Preparing the data of a grid before its first cell."""

from collections.abc import Callable
from pathlib import Path

from bench import datasets
from bench.datasets.cache.manifest import Manifest
from bench.datasets.cache.prepare import refuse_damage

OnRecord = Callable[[str, int, int], None]


def prepare_all(
    manifests: dict[str, Manifest | None], root: Path, *, jobs: int, allow_skipped: bool, on_record: OnRecord
) -> dict[str, Manifest]:
    """Cut the windows of every dataset that is not prepared yet.

    Raises
    ------
    DataError
        Too many records of a dataset are damaged.
    """
    prepared: dict[str, Manifest] = {}
    for name, manifest in manifests.items():
        if manifest is None:
            prepared[name] = datasets.prepare(
                name,
                root,
                jobs=jobs,
                allow_skipped=allow_skipped,
                progress=lambda done, total, name=name: on_record(name, done, total),
            )
        else:
            refuse_damage(manifest, allow_skipped=allow_skipped)
            prepared[name] = manifest
    return prepared
