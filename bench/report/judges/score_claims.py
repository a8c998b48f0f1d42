"""Verdicts on the paper's claims of scores in its main tables, from records of cells.

Scores are those of other seeds on the paper's own test subjects; the decisions are those of `bench.stats.verdict`.
"""

from collections.abc import Sequence

from bench.paper import published
from bench.paper.claim_checks import half_digit, strongest_rival
from bench.paper.claims import Claim
from bench.paper.names import NO_PUBLISHED_SPLIT, OURS, short_name
from bench.paper.published import HALF_DIGIT, PublishedScore
from bench.paper.scale import Ruling, Verdict
from bench.report.judges.claim_parts import Rule, ruled_by_check
from bench.studies.interval_rulings import effect_ruling, number_ruling, parts_ruling, positive_ruling
from bench.studies.measured_scores import (
    NotComparableError,
    comparable_lead,
    comparable_score,
    has_published_split,
)
from bench.studies.suite import Suite


class CellJudge:
    """Judges claims about scores, from the records of one suite."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self._rules: dict[str, Rule] = {
            "equals_table": self._equals_table,
            "best_in_rows": self._best_in_rows,
            "strongest_baseline": self._strongest_baseline,
            "margin": self._margin,
            "larger_lead": self._larger_lead,
            "harder": self._harder,
            "hardest": self._hardest,
        }

    def __call__(self, claim: Claim) -> Ruling | None:
        """Return the verdict, or None where the claim is of no kind known here."""
        return ruled_by_check(claim, self._rules)

    def _equals_table(self, level: float, *, cell: Sequence[str], value: float, digits: int) -> Ruling:
        dataset, model, metric = cell
        printed = _printed(dataset, model, metric)
        measured = comparable_score(self.suite, dataset, model, metric)
        return number_ruling(measured, value, printed.std, half_digit(digits), level)

    def _best_in_rows(
        self, level: float, *, datasets: Sequence[str], metrics: Sequence[str] = published.METRICS
    ) -> Ruling:
        rivals = [model for model in published.models() if model != OURS]
        leads = {
            f"{metric} on {short_name(dataset)} over {rival}": comparable_lead(
                self.suite, dataset, OURS, rival, metric
            )
            for dataset in datasets
            if has_published_split(dataset)
            for metric in metrics
            for rival in rivals
        }
        return _of_listed(positive_ruling("leads", leads, level), datasets)

    def _strongest_baseline(
        self, level: float, *, dataset: str, metric: str, value: float, model: str | None = None
    ) -> Ruling:
        """Rule on the number of the named baseline, else of the published strongest, and on its being the strongest."""
        named = model or strongest_rival(dataset, metric).model
        measured = comparable_score(self.suite, dataset, named, metric)
        std = _printed(dataset, named, metric).std
        leads = {
            f"over {other}": comparable_lead(self.suite, dataset, named, other, metric)
            for other in published.models()
            if other not in (OURS, named)
        }
        return parts_ruling(
            [
                lambda of_part: number_ruling(measured, value, std, HALF_DIGIT, of_part),
                lambda of_part: positive_ruling(f"leads of {named}", leads, of_part),
            ],
            level,
        )

    def _larger_lead(self, level: float, *, dataset: str, than: str, metric: str) -> Ruling:
        """Compare the leads over the rivals that are the strongest in the paper."""
        rivals = {name: strongest_rival(name, metric).model for name in (dataset, than)}
        first, second = (
            comparable_lead(self.suite, name, OURS, rival, metric) for name, rival in rivals.items()
        )
        over = " and ".join(f"{rival} on {short_name(name)}" for name, rival in rivals.items())
        return positive_ruling(f"difference of the leads over {over}", {"": first.minus(second)}, level)

    def _margin(
        self, level: float, *, dataset: str, metric: str, rival: str, value: float, digits: int
    ) -> Ruling:
        lead = comparable_lead(self.suite, dataset, OURS, rival, metric)
        pair = _printed(dataset, OURS, metric), _printed(dataset, rival, metric)
        rounding = max(half_digit(digits), 2 * HALF_DIGIT)
        return effect_ruling(lead, value, [score.std for score in pair], rounding, level)

    def _harder(self, level: float, *, dataset: str, than: str, metrics: Sequence[str]) -> Ruling:
        return self._lower(level, dataset, [than], metrics)

    def _hardest(self, level: float, *, dataset: str, metrics: Sequence[str]) -> Ruling:
        others = [row.dataset for row in published.dataset_summary() if row.dataset != dataset]
        return _of_listed(self._lower(level, dataset, others, metrics), others)

    def _lower(self, level: float, dataset: str, others: Sequence[str], metrics: Sequence[str]) -> Ruling:
        """Rule on every model scoring lower on a dataset than on each of the others with a published split."""
        gaps = {
            f"{metric} of {model} on {short_name(other)}": comparable_score(
                self.suite, other, model, metric
            ).minus(comparable_score(self.suite, dataset, model, metric))
            for other in others
            if has_published_split(other)
            for metric in metrics
            for model in published.models()
        }
        return positive_ruling(f"scores above those on {short_name(dataset)}", gaps, level)


def _printed(dataset: str, model: str, metric: str) -> PublishedScore:
    score = published.lookup(dataset, model, metric)
    if score is None:
        raise NotComparableError(f"{model} on {short_name(dataset)}: no {metric} is published")
    return score


def _of_listed(ruling: Ruling, datasets: Sequence[str]) -> Ruling:
    """Return a ruling on the datasets with a published split; unless it contradicts, it is none on all of them."""
    missing = [short_name(name) for name in datasets if not has_published_split(name)]
    if not missing or ruling.verdict is Verdict.CONTRADICTED:
        return ruling
    return Ruling(
        Verdict.NOT_CHECKABLE, f"{', '.join(missing)}: {NO_PUBLISHED_SPLIT}; elsewhere {ruling.evidence}"
    )
