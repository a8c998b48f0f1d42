"""The field's published scores on a dataset beside the paper's own row: claimed by their papers, not measured here."""

from collections.abc import Sequence

from bench.errors import unknown_name
from bench.field.claimed import (
    METRICS,
    FieldPaper,
    FieldScore,
    datasets,
    models_on,
    own_scores,
    papers,
    row_of,
    this_paper,
)
from bench.field.precedence import Precedence, judge_best, precedes
from bench.paper.names import in_report_order, short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table

_HEADINGS = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "auroc": "AUROC",
    "auprc": "AUPRC",
}
_JUDGED = {"accuracy": "accuracy", "f1": "F1"}


def field_tables(names: Sequence[str]) -> tuple[Table, ...]:
    """Return a table for each dataset that others report on, in the paper's order.

    Raises
    ------
    UsageError
        Nobody in this collection reports on a dataset; the nearest name is offered.
    """
    for name in names:
        if name not in datasets():
            raise unknown_name("dataset in the table of other papers", name, datasets())
    return tuple(field_table(name) for name in in_report_order(names))


def field_table(dataset: str) -> Table:
    """Return the table of one dataset: what was published before the paper, the paper, and what came later."""
    notes = Footnotes()
    models = models_on(dataset)
    earlier = [model for model in models if precedes(papers()[model], this_paper())]
    later = [model for model in models if model not in earlier]
    own = {score.metric: score for score in own_scores(dataset)}
    blocks = (
        Block("published before the paper", _rows(dataset, earlier, notes)),
        Block("the paper", (_row(this_paper(), own, None),)),
        Block("published later", _rows(dataset, later, notes)),
    )
    return Table(
        name=f"field-{dataset}",
        title=f"What other papers report on {short_name(dataset)}",
        columns=("Published", *_HEADINGS.values()),
        blocks=tuple(block for block in blocks if block.rows),
        caption=(
            "Scores in percent as their papers or committed logs report them (claimed, not measured here): mean and "
            f"deviation over seeds. {_verdicts(dataset)}"
        ),
        footnotes=notes.texts,
    )


def precedence_sentence(found: Precedence) -> str:
    """Return the verdict on a score as the best published when the paper appeared, with the numbers behind it."""
    best = found.best_earlier
    paper = papers()[best.model]
    return (
        f"best {_JUDGED[found.own.metric]} published at the time: {found.decision} (the paper "
        f"{found.own.mean:.2f} ± {found.own.std:.2f}; {best.model}, {paper.venue}, {best.mean:.2f}"
        f"{'' if best.std is None else f' ± {best.std:.2f}'})"
    )


def _verdicts(dataset: str) -> str:
    found = [judged for metric in _JUDGED if (judged := judge_best(dataset, metric)) is not None]
    if not found:
        return "Nothing here was published before the paper."
    sentences = "; ".join(map(precedence_sentence, found))
    return f"{sentences[0].upper()}{sentences[1:]}. Protocols differ (footnotes), so the ranks are only claims too."


def _rows(dataset: str, models: Sequence[str], notes: Footnotes) -> tuple[Row, ...]:
    rows = []
    for model in models:
        paper = papers()[model]
        note = notes.number(f"{model}: {paper.difference(dataset)}")
        rows.append(_row(paper, row_of(dataset, model), note))
    return tuple(rows)


def _row(paper: FieldPaper, found: dict[str, FieldScore], note: int | None) -> Row:
    published = Cell(text=f"{paper.venue} ({paper.published[:7]})", note=note)
    return Row(paper.model, (published, *(_cell(found.get(metric)) for metric in METRICS)))


def _cell(score: FieldScore | None) -> Cell:
    return Cell() if score is None else Cell(score.mean, score.std)
