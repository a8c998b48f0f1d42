"""A dataset of the smallest kind, for tests of what all datasets share: one ``.npy`` of windows per record.

A file's name says subject and class: ``anna_1.npy``. A file that numpy cannot read is damaged.
"""

from pathlib import Path

import numpy as np
import pytest

from bench.datasets import registry
from bench.datasets.contract import Cut, DamagedRecord, DatasetFacts, SourceList, SourceRecord

REVISION = 1

FACTS = DatasetFacts(
    name="toy",
    title="Toy",
    version="1",
    task="none",
    class_names=("even", "odd"),
    channel_names=("a", "b", "c"),
    n_times=8,
    sampling_rate_hz=8.0,
    normalisation="window",
    n_subjects=4,
    n_windows=20,
    homepage="https://example.org/toy",
    licence="none",
    citation="none",
    split_rule="none",
)


def records(folder: Path) -> SourceList:
    return SourceList(
        tuple(
            SourceRecord(
                name=path.stem,
                subject=path.stem.split("_")[0],
                label=int(path.stem[-1]),
                paths=(path.name,),
            )
            for path in sorted(folder.glob("*.npy"))
        )
    )


def cut(folder: Path, record: SourceRecord) -> Cut:
    try:
        windows = np.load(folder / record.paths[0], allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DamagedRecord(f"{record.paths[0]}: unreadable") from error
    return Cut.of_one(windows, record)


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._TABLE, "toy", registry.DatasetEntry("toy", __name__))


def write(root: Path, record: str, n_windows: int = 5, seed: int = 0) -> np.ndarray:
    """Write one record and return its windows."""
    (root / "toy").mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng([seed, *record.encode()])
    windows = generator.normal(3.0, 2.0, (n_windows, FACTS.n_times, FACTS.n_channels)).astype(np.float32)
    np.save(root / "toy" / f"{record}.npy", windows)
    return windows


def damage(root: Path, record: str) -> None:
    (root / "toy" / f"{record}.npy").write_bytes(b"not an array")
