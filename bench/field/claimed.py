"""Scores that other papers report on the same data: quoted from public sources, never measured here.

`results.csv` has a line per model, dataset and metric in percent, with its source and commit; `seeds.csv` the single
seeds where committed logs give them; `papers.toml` dates and differences in protocol.
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from bench.errors import RecordError
from bench.paper import published
from bench.paper.names import OURS

METRICS = ("accuracy", "precision", "recall", "f1", "auroc", "auprc")


@dataclass(frozen=True)
class FieldPaper:
    """Where and when a model's numbers were published, and how its protocol differs from the MedMamba paper's.

    ``published`` is an ISO date, or year and month; ``differs_on`` has what holds on single datasets only.
    """

    model: str
    venue: str
    published: str
    differs: str
    budget: str
    pretraining: str
    differs_on: Mapping[str, str] = field(default_factory=dict)

    def difference(self, dataset: str) -> str:
        """Return how the protocol differs on a dataset; empty where it does not."""
        return "; ".join(filter(None, (self.differs, self.differs_on.get(dataset))))


@dataclass(frozen=True)
class FieldScore:
    """One reported score in percent; ``std`` and ``n_seeds`` are None where the source does not say."""

    dataset: str
    model: str
    metric: str
    mean: float
    std: float | None
    n_seeds: int | None
    source: str
    commit: str
    note: str


@cache
def scores() -> tuple[FieldScore, ...]:
    """Return all reported scores, in the order of the file."""
    return tuple(
        FieldScore(
            dataset=row["dataset"],
            model=row["model"],
            metric=row["metric"],
            mean=float(row["mean"]),
            std=float(row["std"]) if row["std"] else None,
            n_seeds=int(row["n_seeds"]) if row["n_seeds"] else None,
            source=row["source"],
            commit=row["commit"],
            note=row["note"],
        )
        for row in _lines()
    )


@cache
def _lines() -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader(text_of("results.csv").splitlines()))


@cache
def papers() -> dict[str, FieldPaper]:
    """Return the source of each model's numbers, by model.

    Raises
    ------
    RecordError
        A model of the scores has no entry in `papers.toml`, or reports from two venues.
    """
    table = tomllib.loads(text_of("papers.toml"))["model"]
    venues = {(line["model"], line["venue"]) for line in _lines()}
    found: dict[str, FieldPaper] = {}
    for model, venue in sorted(venues):
        if model in found or model not in table:
            raise RecordError(
                f"bench/field/papers.toml: {model} needs one entry and one venue; fix the files"
            )
        found[model] = FieldPaper(model=model, venue=venue, **table[model])
    return found


@cache
def this_paper() -> FieldPaper:
    """Return the MedMamba paper as a source like the others."""
    table = tomllib.loads(text_of("papers.toml"))["paper"]
    return FieldPaper(table["name"], table["venue"], table["published"], "", "not said", "none")


def own_scores(dataset: str) -> tuple[FieldScore, ...]:
    """Return the MedMamba paper's own row of a dataset, as reported scores."""
    found = (published.lookup(dataset, OURS, metric) for metric in METRICS)
    return tuple(
        FieldScore(
            dataset, this_paper().model, score.metric, score.mean, score.std, 5, "the paper", "", score.place
        )
        for score in found
        if score is not None
    )


def datasets() -> tuple[str, ...]:
    """Return the datasets that others report on."""
    return tuple(dict.fromkeys(score.dataset for score in scores()))


def row_of(dataset: str, model: str) -> dict[str, FieldScore]:
    """Return a model's reported scores on a dataset, by metric."""
    everything: Sequence[FieldScore] = (*scores(), *own_scores(dataset))
    return {score.metric: score for score in everything if (score.dataset, score.model) == (dataset, model)}


def models_on(dataset: str) -> tuple[str, ...]:
    """Return the models with reported scores on a dataset, the most recently published first."""
    found = dict.fromkeys(score.model for score in scores() if score.dataset == dataset)
    return tuple(sorted(found, key=lambda model: (papers()[model].published, model), reverse=True))


def text_of(name: str) -> str:
    """Return one of the room's data files."""
    return (files("bench.field") / name).read_text(encoding="utf-8")
