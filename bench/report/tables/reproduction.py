"""The reproduction table: every published score of the main tables against the measured one.

Verdicts are those on a number: `bench.stats.verdict.decide_number`, with the deviation over seeds of both sides. Where
data, recipe, settings or seeds differ from the paper's, the difference is shown and nothing is decided; where no split
is published, nothing can be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from bench.paper import published
from bench.paper.names import NO_PUBLISHED_SPLIT, in_paper_order, short_name
from bench.paper.published import HALF_DIGIT, PublishedScore
from bench.paper.remarks import remarks
from bench.paper.scale import Verdict
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.stats.estimate import mean_over_seeds
from bench.stats.verdict import MARGIN_STDS
from bench.studies.caption import study_caption
from bench.studies.interval_rulings import number_ruling
from bench.studies.measured_scores import has_published_split, seed_scores
from bench.studies.suite import Study

NOT_RUN = "not run"

_NAMES = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1": "F1", "auroc": "AUROC"}


@dataclass(frozen=True)
class Reproduction:
    """One published score with the measured scores of each seed, in percent.

    ``void`` says why they may not be compared, empty if they may.
    """

    score: PublishedScore
    scores: Sequence[float]
    void: str

    @property
    def difference(self) -> float | None:
        """Measured minus published, in percentage points."""
        return fmean(self.scores) - self.score.mean if self.scores else None

    @property
    def in_stds(self) -> float | None:
        """The difference in units of the published standard deviation."""
        return None if self.difference is None or not self.score.std else self.difference / self.score.std

    @property
    def verdict(self) -> str:
        """The verdict on the published mean, or that there is nothing to decide on."""
        if not has_published_split(self.score.dataset):
            return Verdict.NOT_CHECKABLE
        if not self.scores:
            return NOT_RUN
        if self.void:
            return Verdict.UNDECIDED
        measured = mean_over_seeds(self.scores)
        return number_ruling(measured, self.score.mean, self.score.std, HALF_DIGIT).verdict


def reproductions(study: Study) -> list[Reproduction]:
    """Return all published scores of a dataset against what was measured."""
    order = in_paper_order(published.models())
    scores = [score for score in published.main_results() if score.dataset == study.dataset]
    scores.sort(key=lambda score: order.index(score.model))
    return [
        Reproduction(score, seed_scores(study, score.model, score.metric), study.void(score.model))
        for score in scores
    ]


def reproduction_table(study: Study, name: str) -> Table | None:
    """Return published and measured scores of a dataset; None where the paper has none for it."""
    found = reproductions(study)
    if not found:
        return None
    notes = Footnotes()
    blocks = tuple(
        Block(
            title,
            tuple(_row(reproduction, notes) for reproduction in found if reproduction.score.metric == metric),
        )
        for metric, title in _NAMES.items()
    )
    verdicts = [reproduction.verdict for reproduction in found]
    counted = ", ".join(f"{verdicts.count(name)} {name}" for name in (*Verdict, NOT_RUN) if name in verdicts)
    split = "" if has_published_split(study.dataset) else f" Not checkable: {NO_PUBLISHED_SPLIT}."
    return Table(
        name=name,
        title=f"{short_name(study.dataset)}: published against measured",
        columns=("published", "measured", "difference", "in published std", "verdict"),
        blocks=blocks,
        caption=(
            f"{study_caption(study)} Supported: the interval of the difference lies within {MARGIN_STDS:g} published "
            "standard deviations; contradicted: it excludes zero and does not lie within them; undecided: neither, or "
            f"data, split, recipe, settings or seeds are not the paper's.{split} {len(found)} scores: {counted}."
        ),
        footnotes=notes.texts,
    )


def _row(reproduction: Reproduction, notes: Footnotes) -> Row:
    score = reproduction.score
    odd = remarks(score.dataset, score.model, score.metric)
    printed = Cell(score.mean, score.std, note=notes.number(f"published: {'; '.join(odd)}") if odd else None)
    if not reproduction.scores:
        return Row(score.model, (printed, Cell(), Cell(), Cell(), Cell(text=reproduction.verdict)))
    std = stdev(reproduction.scores) if len(reproduction.scores) > 1 else None
    note = notes.number(f"not comparable: {reproduction.void}") if reproduction.void else None
    return Row(
        score.model,
        (
            printed,
            Cell(fmean(reproduction.scores), std),
            Cell(reproduction.difference, unit="points"),
            Cell(reproduction.in_stds, unit="published standard deviations"),
            Cell(text=reproduction.verdict, note=note),
        ),
    )
