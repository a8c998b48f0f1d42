"""The reproduction table: every published score of the main tables against the measured one.

A difference is "within" when it is at most two published standard deviations (plus half a printed digit): the
deviation over the paper's five seeds is the only spread that the paper gives. Where data, recipe, settings or
seeds differ from the paper's, the difference is shown and no verdict is given.
"""

from dataclasses import dataclass

from bench.paper import published
from bench.paper.claim_checks import HALF_DIGIT
from bench.paper.names import in_paper_order, short_name
from bench.paper.published import PublishedScore
from bench.paper.remarks import remarks
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.studies.aggregate import Mean
from bench.studies.caption import study_caption
from bench.studies.suite import Study

WITHIN_STDS = 2.0

_NAMES = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1": "F1", "auroc": "AUROC"}


@dataclass(frozen=True)
class Reproduction:
    """One published score with the measured score; `void` says why they may not be compared, empty if they may."""

    score: PublishedScore
    measured: Mean | None
    void: str

    @property
    def difference(self) -> float | None:
        """Measured minus published, in percentage points."""
        return None if self.measured is None else 100 * self.measured.mean - self.score.mean

    @property
    def in_stds(self) -> float | None:
        """The difference in units of the published standard deviation."""
        return None if self.difference is None or not self.score.std else self.difference / self.score.std

    @property
    def verdict(self) -> str:
        """Whether the measured mean is within two published deviations, or why that cannot be decided."""
        if self.difference is None:
            return "not run"
        if self.void:
            return "void"
        within = abs(self.difference) <= WITHIN_STDS * self.score.std + HALF_DIGIT
        return "within" if within else "outside"


def reproductions(study: Study) -> list[Reproduction]:
    """Return all published scores of a dataset against what was measured."""
    order = in_paper_order(published.models())
    scores = [score for score in published.main_results() if score.dataset == study.dataset]
    scores.sort(key=lambda score: order.index(score.model))
    return [
        Reproduction(
            score,
            study.groups[score.model].score(score.metric) if score.model in study.groups else None,
            study.void(score.model),
        )
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
    counted = ", ".join(f"{verdicts.count(name)} {name}" for name in ("within", "outside", "void", "not run"))
    return Table(
        name=name,
        title=f"{short_name(study.dataset)}: published against measured",
        columns=("published", "measured", "difference", "in published std", "verdict"),
        blocks=blocks,
        caption=(
            f"{study_caption(study)} Within: at most {WITHIN_STDS:g} published standard deviations away; void: "
            f"not the paper's data, split, recipe, settings or seeds. {len(found)} scores: {counted}."
        ),
        footnotes=notes.texts,
    )


def _row(reproduction: Reproduction, notes: Footnotes) -> Row:
    score = reproduction.score
    odd = remarks(score.dataset, score.model, score.metric)
    printed = Cell(score.mean, score.std, note=notes.number(f"published: {'; '.join(odd)}") if odd else None)
    if reproduction.measured is None:
        return Row(score.model, (printed, Cell(), Cell(), Cell(), Cell(text=reproduction.verdict)))
    mean, std = reproduction.measured.mean, reproduction.measured.std
    note = notes.number(f"void: {reproduction.void}") if reproduction.void else None
    return Row(
        score.model,
        (
            printed,
            Cell(100 * mean, None if std is None else 100 * std),
            Cell(reproduction.difference, unit="points"),
            Cell(reproduction.in_stds, unit="published standard deviations"),
            Cell(text=reproduction.verdict, note=note),
        ),
    )
