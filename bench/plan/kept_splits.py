"""Keeps the splits of planned cells beside their records."""

from collections.abc import Iterable
from pathlib import Path

from bench.datasets.contract import Split
from bench.plan.grid import PlannedCell
from bench.results.split_file import SplitFile, write_split


def keep_splits(out: Path, cells: Iterable[PlannedCell]) -> None:
    """Write the split of every cell whose data is prepared, each split once.

    Raises
    ------
    BenchError
        The results folder cannot be written.
    """
    prepared = [planned.cell for planned in cells if planned.cell is not None]
    splits = dict.fromkeys((cell.settings.dataset, cell.data.split) for cell in prepared)
    for dataset, split in splits:
        write_split(out, _sorted(dataset, split))


def _sorted(dataset: str, split: Split) -> SplitFile:
    return SplitFile(
        dataset=dataset,
        train=tuple(sorted(split.train)),
        validation=tuple(sorted(split.validation)),
        test=tuple(sorted(split.test)),
    )
