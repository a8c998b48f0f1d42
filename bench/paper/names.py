"""The paper's names and order of models and datasets, and the recipe of its results."""

from collections.abc import Iterable

from bench.paper import published

OURS = "medmamba"

PAPER_RECIPE = "published"
PAPER_SEEDS = (41, 42, 43, 44, 45)
WITHOUT_PUBLISHED_SPLIT = ("uci-har", "sleep-edf")
"""Datasets whose split by subject the paper and its sources do not list: ours cannot have the paper's test subjects."""
NO_PUBLISHED_SPLIT = "no published split, so our test subjects may not be those of the paper"

_SHORT_NAMES = {
    "ptb": "PTB",
    "ptb-xl": "PTB-XL",
    "adftd": "ADFTD",
    "apava": "APAVA",
    "sleep-edf": "Sleep-EDF",
    "uci-har": "UCI-HAR",
}
"""Datasets in the order of the paper's tables: ECG, EEG, motion."""


def ablation_variants() -> tuple[str, ...]:
    """Return the reduced models of the paper's ablation."""
    return tuple(
        name for name in dict.fromkeys(cell.variant for cell in published.ablation()) if name != OURS
    )


def is_of_paper(recipe: str, dataset: str) -> bool:
    """Tell whether the paper has results on a dataset under the recipe, so that absent models count as missing."""
    return recipe == PAPER_RECIPE and any(row.dataset == dataset for row in published.dataset_summary())


def short_name(dataset: str) -> str:
    """Return the name of a dataset in tables; a dataset unknown to the paper keeps its own name."""
    return _SHORT_NAMES.get(dataset, dataset)


def in_paper_order(models: Iterable[str]) -> tuple[str, ...]:
    """Return models with the paper's baselines first, then others, and MedMamba last, as the paper has it."""
    known = [name for name in published.models() if name != OURS]
    position = {name: number for number, name in enumerate(known)} | {OURS: len(known) + 1}
    return tuple(sorted(models, key=lambda name: (position.get(name, len(known)), name)))


def in_report_order(datasets: Iterable[str]) -> tuple[str, ...]:
    """Return datasets as the paper's tables have them: ECG, EEG, motion; others follow."""
    known = list(_SHORT_NAMES)
    return tuple(
        sorted(datasets, key=lambda name: (known.index(name) if name in known else len(known), name))
    )
