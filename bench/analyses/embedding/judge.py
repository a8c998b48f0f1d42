"""Verdicts on the paper's reading of its t-SNE maps, from numbers on the same features.

A map cannot be right or wrong, so "separates" is taken to mean: the nearest windows of OTHER subjects predict the class
better than always predicting the most frequent class does, by the mean over seeds.
"""

from collections.abc import Sequence

from bench.analyses.embedding.record import NAME, EmbeddingRecord, Quantity
from bench.paper.claims import Claim, RecordJudge, Ruling
from bench.paper.names import OURS
from bench.paper.rulings import comparison_ruling, unless_void
from bench.stats.summary import over_seeds
from bench.studies.suite import Suite

RIVAL = "medformer"


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
        ruling = self._rules[claim.about["rule"]](ours, theirs)
        return unless_void(ruling, ours.cells.void or theirs.cells.void)


def _only_ours_separates(ours: EmbeddingRecord, theirs: EmbeddingRecord) -> Ruling | None:
    gains = [_gain(record) for record in (ours, theirs)]
    if gains[0] is None or gains[1] is None:
        return None
    evidence = (
        f"class from other subjects' neighbours, gain over naming one class: {OURS} {gains[0]:+.3f}, "
        f"{RIVAL} {gains[1]:+.3f}"
    )
    return comparison_ruling(gains[0] > 0 >= gains[1], evidence)


def _separates_better(ours: EmbeddingRecord, theirs: EmbeddingRecord) -> Ruling | None:
    quantities: tuple[Quantity, ...] = ("silhouette_class", "class_from_others")
    pairs = {name: (_mean(ours, name), _mean(theirs, name)) for name in quantities}
    known = {name: (a, b) for name, (a, b) in pairs.items() if a is not None and b is not None}
    if len(known) < len(pairs):
        return None
    evidence = "; ".join(
        f"{name.replace('_', ' ')}: {OURS} {a:.3f}, {RIVAL} {b:.3f}" for name, (a, b) in known.items()
    )
    return comparison_ruling(all(a > b for a, b in known.values()), evidence)


def _gain(record: EmbeddingRecord) -> float | None:
    found = _mean(record, "class_from_others")
    constant = record.constant_from_others
    return None if found is None or constant is None else found - constant


def _mean(record: EmbeddingRecord, quantity: Quantity) -> float | None:
    found = over_seeds([getattr(seed, quantity) for seed in record.seeds])
    return None if found is None else found[0]
