"""Verdicts on the paper's reading of its t-SNE maps, from numbers on the same features.

A map cannot be right or wrong, so "separates" is taken to mean: the nearest windows of OTHER subjects predict the class
better than always predicting the most frequent class does. Seeds vary, the test windows are the same.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bench.analyses.embedding.record import NAME, EmbeddingRecord, Quantity
from bench.paper.claims import Claim, RecordJudge
from bench.paper.names import OURS
from bench.paper.scale import Ruling
from bench.stats.estimate import Estimate, mean_over_seeds
from bench.studies.interval_rulings import few_seeds_ruling, positive_ruling
from bench.studies.suite import Suite

RIVAL = "medformer"
PERCENT = 100.0


def judges(records: Sequence[EmbeddingRecord], _suite: Suite | None) -> dict[str, RecordJudge]:
    """Return the judge of claims about t-SNE maps."""
    return {NAME: EmbeddingJudge(records)}


class EmbeddingJudge:
    """Judges MedMamba's features against Medformer's."""

    def __init__(self, records: Sequence[EmbeddingRecord]) -> None:
        self.records = {(record.cells.dataset, record.cells.model): record for record in records}
        self._rules = {
            "only_ours_separates": _only_ours_separates,
            "separates_better": _separates_better,
        }

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where either model's features were not analysed."""
        dataset = claim.about["dataset"]
        ours, theirs = (self.records.get((dataset, model)) for model in (OURS, RIVAL))
        if ours is None or theirs is None:
            return None
        if min(len(ours.seeds), len(theirs.seeds)) < 2:
            return few_seeds_ruling(f"features of {OURS} and {RIVAL}")
        effects = self._rules[claim.about["rule"]](ours, theirs)
        if effects is None:
            return None
        return positive_ruling("percent", effects).unless(ours.cells.void or theirs.cells.void)


def _only_ours_separates(ours: EmbeddingRecord, theirs: EmbeddingRecord) -> Mapping[str, Estimate] | None:
    """Return the gain over naming one class of MedMamba, and that of Medformer with its sign turned."""
    gains = [_gain(record) for record in (ours, theirs)]
    if gains[0] is None or gains[1] is None:
        return None
    return {
        f"gain of {OURS} over naming one class": gains[0],
        f"lack of a gain of {RIVAL}": gains[1].times(-1.0),
    }


def _separates_better(ours: EmbeddingRecord, theirs: EmbeddingRecord) -> Mapping[str, Estimate] | None:
    quantities: tuple[Quantity, ...] = ("silhouette_class", "class_from_others")
    effects = {}
    for name in quantities:
        first, second = _mean(ours, name), _mean(theirs, name)
        if first is None or second is None:
            return None
        effects[f"{name.replace('_', ' ')}, {OURS} minus {RIVAL}"] = first.minus(second)
    return effects


def _gain(record: EmbeddingRecord) -> Estimate | None:
    constant = record.constant_from_others
    return None if constant is None else _mean(record, "class_from_others", constant)


def _mean(record: EmbeddingRecord, quantity: Quantity, minus: float = 0.0) -> Estimate | None:
    """Return a quantity minus a constant over seeds, in percent; None where a seed lacks it."""
    values = [getattr(seed, quantity) for seed in record.seeds]
    if any(value is None for value in values):
        return None
    return mean_over_seeds(PERCENT * (np.array(values) - minus))
