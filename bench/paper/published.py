"""The numbers that the MedMamba paper prints, read from the CSV files in `published/`.

Source: He et al., MedMamba: Recasting Mamba for Medical Time Series Classification; transcribed from the
LaTeX source of its tables and of its efficiency section, in the paper's own units (scores in percent) and
with its own roundings. `place` is the label of the table or section. These numbers are quoted, never
measured here: code that shows them beside ours must mark them as published.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

METRICS = ("accuracy", "precision", "recall", "f1", "auroc")
"""The metrics of the paper's result tables; all but the accuracy are macro averages."""

HALF_DIGIT = 0.005
"""Half of the last digit of a score printed with two decimals."""

ABLATION_DATASET = "adftd"
"""The dataset of the ablation table."""


@dataclass(frozen=True)
class PublishedScore:
    """One cell of the two main tables: mean and standard deviation over seeds 41-45, in percent.

    `bold`: whether the paper marks the cell as the best of its row.
    """

    dataset: str
    model: str
    metric: str
    mean: float
    std: float
    bold: bool
    place: str


@dataclass(frozen=True)
class PublishedAblation:
    """One cell of the ablation table on ADFTD, in percent.

    `drop` is the loss against the full model as printed (None for the full model itself).
    """

    variant: str
    metric: str
    mean: float
    std: float
    drop: float | None
    place: str


@dataclass(frozen=True)
class PublishedCentralization:
    """Spectral (SCI) and dynamic (DIC) centralization of one dataset, both without unit."""

    dataset: str
    domain: str
    sci: float
    dic: float
    place: str


@dataclass(frozen=True)
class PublishedDataset:
    """One row of the dataset summary; the paper calls a window a sample."""

    dataset: str
    n_subjects: int
    n_windows: int
    n_classes: int
    n_channels: int
    n_times: int
    modality: str
    place: str


@dataclass(frozen=True)
class PublishedConfiguration:
    """MedMamba's hyperparameters for one dataset."""

    dataset: str
    d_model: int
    n_layers: int
    expand: int
    ffn_expansion: int
    strides: tuple[int, ...]
    dropout: float
    drop_path: float
    channel_dropout: float
    place: str


@dataclass(frozen=True)
class PublishedEfficiency:
    """One number of the efficiency section (ADFTD, RTX 3090, batch 256).

    `low` and `high` are the ends of the printed range, equal where one number is printed.
    """

    model: str
    quantity: str
    low: float
    high: float
    unit: str
    place: str


def lookup(dataset: str, model: str, metric: str) -> PublishedScore | None:
    """Return the published score of a cell; None where the paper prints none (AUPRC, a later model)."""
    return _index().get((dataset, model, metric))


@cache
def main_results() -> tuple[PublishedScore, ...]:
    """Return the 360 cells of the ECG table and of the EEG and activity table."""
    return tuple(
        PublishedScore(
            dataset=row["dataset"],
            model=row["model"],
            metric=row["metric"],
            mean=float(row["mean"]),
            std=float(row["std"]),
            bold=row["bold"] == "yes",
            place=row["place"],
        )
        for row in _rows("main_results")
    )


@cache
def models() -> tuple[str, ...]:
    """Return the twelve models of the main tables, MedMamba first."""
    return tuple(dict.fromkeys(score.model for score in main_results()))


@cache
def ablation() -> tuple[PublishedAblation, ...]:
    """Return the 20 cells of the ablation table: four variants on ADFTD, five metrics."""
    return tuple(
        PublishedAblation(
            variant=row["variant"],
            metric=row["metric"],
            mean=float(row["mean"]),
            std=float(row["std"]),
            drop=float(row["drop"]) if row["drop"] else None,
            place=row["place"],
        )
        for row in _rows("ablation")
    )


@cache
def centralization() -> tuple[PublishedCentralization, ...]:
    """Return the two centralization indices of four medical datasets and of Weather."""
    return tuple(
        PublishedCentralization(
            row["dataset"], row["domain"], float(row["sci"]), float(row["dic"]), row["place"]
        )
        for row in _rows("centralization")
    )


@cache
def dataset_summary() -> tuple[PublishedDataset, ...]:
    """Return the paper's counts per dataset."""
    return tuple(
        PublishedDataset(
            dataset=row["dataset"],
            n_subjects=int(row["n_subjects"]),
            n_windows=int(row["n_windows"]),
            n_classes=int(row["n_classes"]),
            n_channels=int(row["n_channels"]),
            n_times=int(row["n_times"]),
            modality=row["modality"],
            place=row["place"],
        )
        for row in _rows("dataset_summary")
    )


@cache
def model_configuration() -> tuple[PublishedConfiguration, ...]:
    """Return MedMamba's printed hyperparameters per dataset."""
    return tuple(
        PublishedConfiguration(
            dataset=row["dataset"],
            d_model=int(row["d_model"]),
            n_layers=int(row["n_layers"]),
            expand=int(row["expand"]),
            ffn_expansion=int(row["ffn_expansion"]),
            strides=tuple(int(stride) for stride in row["strides"].split()),
            dropout=float(row["dropout"]),
            drop_path=float(row["drop_path"]),
            channel_dropout=float(row["channel_dropout"]),
            place=row["place"],
        )
        for row in _rows("model_configuration")
    )


@cache
def efficiency() -> tuple[PublishedEfficiency, ...]:
    """Return the parameter counts, throughputs and F1 scores that the efficiency section states."""
    return tuple(
        PublishedEfficiency(
            row["model"], row["quantity"], float(row["low"]), float(row["high"]), row["unit"], row["place"]
        )
        for row in _rows("efficiency")
    )


@cache
def _index() -> dict[tuple[str, str, str], PublishedScore]:
    return {(score.dataset, score.model, score.metric): score for score in main_results()}


def _rows(table: str) -> list[dict[str, str]]:
    """Return the rows of one of the package's CSV files; every field is text."""
    source = files("bench.paper") / "published" / f"{table}.csv"
    return list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))
