"""Synthetic results folders: records and predictions that the package's own models and store have written.

The numbers mean nothing. They depend on model, dataset and seed alone, so that two folders of one grid are equal.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bench.files import sha256_of
from bench.paper import published
from bench.results.record import (
    CellName,
    DataDescription,
    Environment,
    Epoch,
    Failure,
    Metrics,
    Outcome,
    Parameters,
    Record,
    SplitCounts,
    Timing,
)
from bench.results.store import CellFolder, write_record
from bench.settings import preset, resolve
from bench.train.scores import score

PAPER_MODELS = (
    "autoformer",
    "crossformer",
    "fedformer",
    "informer",
    "itransformer",
    "medformer",
    "medmamba",
    "mtst",
    "nonformer",
    "patchtst",
    "reformer",
    "transformer",
)
ABLATIONS = ("medmamba-no-channel-mixing", "medmamba-single-scale", "medmamba-unidirectional")
CLASSES = {
    "adftd": ("control", "frontotemporal dementia", "Alzheimer's disease"),
    "apava": ("healthy", "Alzheimer's disease"),
    "ptb": ("healthy control", "myocardial infarction"),
    "ptb-xl": ("NORM", "MI", "STTC", "CD", "HYP"),
    "uci-har": ("walking", "walking upstairs", "walking downstairs", "sitting", "standing", "laying"),
    "sleep-edf": ("W", "N1", "N2", "N3", "REM"),
}
SEVERAL_CLASSES_A_SUBJECT = ("uci-har", "sleep-edf")
OURS = ("uci-har", "sleep-edf")
"""Datasets whose whole has a split of our own, as `bench.datasets.splits` says of the real ones."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Which cells a results folder has, and how large they are.

    `failed` and `missing` hold (model, dataset, seed); `sizes` gives (subjects, windows of each) of a test part
    where it is not the default. `known_as` writes a model's records under another name.
    """

    models: tuple[str, ...] = ("medmamba", "patchtst", "transformer")
    datasets: tuple[str, ...] = ("adftd", "ptb")
    seeds: tuple[int, ...] = (41, 42)
    kind: Literal["whole", "excerpt", "simulated"] = "whole"
    recipe: str = "published"
    preset: str = "paper"
    failed: frozenset[tuple[str, str, int]] = frozenset()
    missing: frozenset[tuple[str, str, int]] = frozenset()
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    n_epochs: int = 4
    known_as: dict[str, str] = field(default_factory=dict)
    title: str = ""

    @property
    def cells(self) -> list[tuple[str, str, int]]:
        """The cells that have a record."""
        return [
            (model, dataset, seed)
            for dataset in self.datasets
            for model in self.models
            for seed in self.seeds
            if (model, dataset, seed) not in self.missing
        ]


@dataclass(frozen=True)
class TestPart:
    """Labels and subjects of the test windows of a dataset, shared by all its cells."""

    __test__ = False

    labels: NDArray[np.int64]
    subjects: NDArray[np.str_]

    @classmethod
    def of(cls, dataset: str, n_subjects: int, n_windows: int) -> "TestPart":
        """Make a part in which every class occurs."""
        n_classes = len(CLASSES[dataset])
        of_subject = np.arange(n_subjects) % n_classes
        labels = np.repeat(of_subject, n_windows)
        if dataset in SEVERAL_CLASSES_A_SUBJECT:
            labels = np.arange(n_subjects * n_windows) % n_classes
        names = np.array([f"subject-{number:04d}" for number in range(n_subjects)])
        return cls(labels.astype(np.int64), np.repeat(names, n_windows))


def write_grid(out: Path, grid: Grid) -> list[Record]:
    """Write all records of a grid and the predictions of those that are done; return the records."""
    return [_write_cell(out, grid, *cell) for cell in grid.cells]


def _write_cell(out: Path, grid: Grid, model: str, dataset: str, seed: int) -> Record:
    name = CellName(model=grid.known_as.get(model, model), dataset=dataset, seed=seed, recipe=grid.recipe)
    key = hashlib.sha256(repr((name, grid.kind, grid.preset)).encode()).hexdigest()
    folder = CellFolder.of(out, name, key)
    folder.path.mkdir(parents=True, exist_ok=True)
    part = _test_part(dataset, *grid.sizes.get(dataset, (12, 6)))
    failed = (model, dataset, seed) in grid.failed
    outcome: dict[str, Any] = _failure() if failed else _success(grid, folder, name, part)
    folder.log.write_text(f"epoch 1 of {name.model}\nlast line <of> the log\n", encoding="utf-8")
    record = Record(
        schema=1,
        key=key,
        cell=name,
        settings=_settings(model, dataset, seed, grid.recipe, grid.preset) | {"model": name.model},
        revisions={"model": 1, "trainer": 1},
        timing=Timing(started="2026-01-01T00:00:00+00:00", train_s=60.0, test_s=2.0, total_s=63.0),
        environment=Environment(
            device="cpu",
            device_name="Test CPU",
            threads=1,
            precision="float32",
            deterministic=True,
            scan_backend="native" if model.startswith("medmamba") else None,
            platform="Linux",
            versions={"python": "3.11.0", "torch": "2.6.0"},
        ),
        data=_description(grid, dataset, part),
        **outcome,
    )
    write_record(folder, record)
    return record


def _failure() -> dict[str, Any]:
    outcome: Outcome = "timeout"
    error = Failure(kind="Timeout", message="no end after <60> s", traceback="line <b>1</b>\nline 2")
    return {"outcome": outcome, "error": error}


def _success(grid: Grid, folder: CellFolder, name: CellName, part: TestPart) -> dict[str, Any]:
    logits = _logits(name, part)
    np.savez_compressed(
        folder.predictions,
        logits=logits,
        label=part.labels,
        subject=part.subjects,
        record=part.subjects,
        window=np.arange(len(part.labels)),
    )
    folder.weights.write_bytes(b"weights")
    # Scoring a large part takes longer than the report; a draw of it serves as well here.
    scored = slice(None, None, max(1, len(part.labels) // 2000))
    scores = score(logits[scored], part.labels[scored], part.subjects[scored], CLASSES[name.dataset])
    return {
        "outcome": "ok",
        "metrics": Metrics(val=scores, test=scores),
        "history": tuple(_epoch(number, name.seed) for number in range(1, grid.n_epochs + 1)),
        "best_epoch": grid.n_epochs,
        "peak_memory_bytes": 500_000_000,
        "parameters": Parameters(forward=1_000_000, total=1_000_100),
        "files": {path.name: sha256_of(path) for path in (folder.predictions, folder.weights)},
    }


def _logits(name: CellName, part: TestPart) -> NDArray[np.float32]:
    """Return logits that are right more often than not, by a skill of the model on the dataset."""
    digest = hashlib.sha256(f"{name.model} {name.dataset}".encode()).digest()
    skill = 0.4 + 2.0 * digest[0] / 255
    rng = np.random.default_rng([digest[1], name.seed])
    n_classes = len(CLASSES[name.dataset])
    noise = rng.normal(size=(len(part.labels), n_classes))
    return (noise + skill * np.eye(n_classes)[part.labels]).astype(np.float32)


def _epoch(number: int, seed: int) -> Epoch:
    return Epoch(
        epoch=number,
        train_loss=1.5 / number,
        val_loss=1.6 / number + 0.01 * seed,
        val_f1=1 - 0.9 / (number + 1),
        learning_rate=1e-4,
        seconds=1.25,
    )


# n_times, n_channels as the paper prints them.
PUBLISHED_SHAPES = {one.dataset: (one.n_times, one.n_channels) for one in published.dataset_summary()}


def _description(grid: Grid, dataset: str, part: TestPart) -> DataDescription:
    n_classes = len(CLASSES[dataset])
    counts = tuple(int(n) for n in np.bincount(part.labels, minlength=n_classes))
    test = SplitCounts(
        n_subjects=len(np.unique(part.subjects)), n_windows=len(part.labels), windows_per_class=counts
    )
    whole = grid.kind == "whole"
    return DataDescription(
        title=grid.title or f"Dataset {dataset}",
        kind=grid.kind,
        version="1.0",
        fingerprint=hashlib.sha256(f"{dataset} {grid.kind}".encode()).hexdigest(),
        normalisation="window",
        split_origin=("ours" if dataset in OURS else "published") if whole else "rule",
        n_times=PUBLISHED_SHAPES[dataset][0],
        n_channels=PUBLISHED_SHAPES[dataset][1],
        class_names=CLASSES[dataset],
        parts={"train": test, "validation": test, "test": test},
        n_train_windows_used=test.n_windows,
    )


@cache
def _test_part(dataset: str, n_subjects: int, n_windows: int) -> TestPart:
    return TestPart.of(dataset, n_subjects, n_windows)


@cache
def _settings(model: str, dataset: str, seed: int, recipe: str, preset_name: str) -> dict[str, Any]:
    resolved = resolve(model, dataset, seed, recipe_name=recipe, preset=preset(preset_name), assignments={})
    return resolved.model_dump(mode="json")
