"""Was the paper's model the best published when the paper appeared? Judged by dates and by both sides' deviations."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.field.claimed import FieldPaper, FieldScore, models_on, own_scores, papers, row_of, this_paper
from bench.stats.estimate import LEVEL, Estimate, published_mean
from bench.stats.verdict import Decision, decide_all_positive

HALF_DIGIT = 0.005
_SEEDS = 5
"""Seeds of a reported deviation whose source does not say how many: the field's usual number."""


@dataclass(frozen=True)
class Precedence:
    """The verdict on one score as the best of all published before it, which are ``earlier``."""

    own: FieldScore
    earlier: tuple[FieldScore, ...]
    decision: Decision

    @property
    def best_earlier(self) -> FieldScore:
        """The highest of the earlier scores."""
        return max(self.earlier, key=lambda score: score.mean)


def precedes(earlier: FieldPaper, later: FieldPaper) -> bool:
    """Tell whether numbers were public before others: by month, within a month by arXiv's running number, else no."""
    months = earlier.published[:7], later.published[:7]
    if months[0] != months[1]:
        return months[0] < months[1]
    numbers = [
        paper.venue.removeprefix("arXiv ") for paper in (earlier, later) if paper.venue.startswith("arXiv ")
    ]
    return len(numbers) == len(months) and numbers[0] < numbers[1]


def judge_best(dataset: str, metric: str, level: float = LEVEL) -> Precedence | None:
    """Judge the paper's score as the best published on a dataset when the paper appeared.

    A score without a deviation is held against with none of its own. ``level`` is that of the intervals.

    Returns
    -------
    The verdict, None where nothing earlier is known or the paper has no such score.
    """
    own = {score.metric: score for score in own_scores(dataset)}.get(metric)
    earlier = _earlier(dataset, metric)
    if own is None or not earlier:
        return None
    ours = _estimate(own)
    leads = [ours.minus(_estimate(score)) for score in earlier]
    return Precedence(own, earlier, decide_all_positive(leads, level))


def _earlier(dataset: str, metric: str) -> tuple[FieldScore, ...]:
    before = [model for model in models_on(dataset) if precedes(papers()[model], this_paper())]
    rows: Sequence[dict[str, FieldScore]] = [row_of(dataset, model) for model in before]
    return tuple(row[metric] for row in rows if metric in row)


def _estimate(score: FieldScore) -> Estimate:
    return published_mean(score.mean, score.std or 0.0, score.n_seeds or _SEEDS, HALF_DIGIT)
