"""The results on one dataset: measured scores over seeds, chance, and the published values, never mixed."""

from collections.abc import Sequence

from bench.paper import published
from bench.paper.names import in_paper_order, is_of_paper
from bench.paper.remarks import remarks
from bench.render.table import Block, Cell, Footnotes, Row, Table, mark_best
from bench.results.metrics import METRICS
from bench.results.record import Record
from bench.studies.aggregate import Group
from bench.studies.caption import data_remarks, study_caption
from bench.studies.chance import majority_scores, stratified_scores
from bench.studies.model_blocks import blocks_of
from bench.studies.suite import Study

PUBLISHED = "published (MedMamba paper; not measured here)"
ATTAINABLE = "attainable: what an ideal classifier is expected to reach on simulated data"


def main_results(study: Study, name: str) -> Table:
    """Return the table of one dataset.

    Models stand in blocks, with marks of their own. Those that lack a seed stand in one of their own, since their
    means are over other seeds.
    """
    notes = Footnotes()
    complete = [group for model, group in study.groups.items() if study.is_complete(model)]
    partial = [group for model, group in study.groups.items() if not study.is_complete(model)]
    rows = tuple(Row(group.model, score_cells(group)) for group in complete)
    blocks = measured_blocks(rows, marked=study.may_rank)
    if partial:
        rows = tuple(
            Row(group.model, score_cells(group, notes.number(study.gap(group.model)))) for group in partial
        )
        blocks.append(Block("measured on fewer seeds: not comparable", rows))
    blocks.append(Block("chance on this test split", chance_rows(study.record)))
    blocks.append(Block(ATTAINABLE, attainable_rows(study.record)))
    printed = tuple(row for model in study.groups if (row := _published_row(study.dataset, model, notes)))
    if printed:
        blocks.append(Block(PUBLISHED, printed))
    return Table(
        name=name,
        title=f"{study.record.data.title}: main results",
        columns=tuple(METRICS.values()),
        blocks=tuple(block for block in blocks if block.rows),
        caption=study_caption(study),
        footnotes=(*notes.texts, *_not_run(study), *data_remarks(study)),
    )


def measured_blocks(rows: Sequence[Row], *, marked: bool) -> list[Block]:
    """Return rows of models in their blocks; if ``marked``, the best and the second of each block are.

    Models that would all stand in one block are just headed as measured.
    """
    by_label = {row.label: row for row in rows}
    blocks = blocks_of(by_label)
    apart = ", best of this block marked" if marked else ""
    return [
        Block(
            "measured" if len(blocks) < 2 else f"measured: {heading}{apart}",
            mark_best(chosen) if marked else chosen,
        )
        for heading, members in blocks.items()
        if (chosen := tuple(by_label[model] for model in members))
    ]


def _not_run(study: Study) -> list[str]:
    """Name the paper's models without records, if the paper has results on the dataset."""
    if not is_of_paper(study.comparison.condition.recipe, study.dataset):
        return []
    absent = [model for model in in_paper_order(published.models()) if model not in study.groups]
    return [f"models of the paper not run: {', '.join(absent)}"] if absent else []


def score_cells(group: Group, note: int | None = None) -> tuple[Cell, ...]:
    """Return the test scores of a model in percent, one cell for each metric."""
    return tuple(score_cell(group, metric, note) for metric in METRICS)


def score_cell(group: Group, metric: str, note: int | None = None) -> Cell:
    """Return one test score of a model in percent, a dash if no seed has it."""
    score = group.score(metric)
    if score is None:
        return Cell(note=note)
    return Cell(100 * score.mean, None if score.std is None else 100 * score.std, note=note)


def chance_rows(record: Record) -> tuple[Row, ...]:
    """Return the scores of the most frequent class and of a proportional guess, in percent."""
    counts = record.data.parts["test"].windows_per_class
    guesses = {"majority class": majority_scores(counts), "stratified guess": stratified_scores(counts)}
    return tuple(
        Row(label, tuple(Cell(100 * scores[metric]) if metric in scores else Cell() for metric in METRICS))
        for label, scores in guesses.items()
    )


def attainable_rows(record: Record) -> tuple[Row, ...]:
    """Return the scores in percent that an ideal classifier of simulated data is expected to have; no row otherwise."""
    scores: dict[str, float] = {**record.data.attainable}
    if not scores:
        return ()
    return (
        Row(
            "attainable",
            tuple(Cell(100 * scores[metric]) if metric in scores else Cell() for metric in METRICS),
        ),
    )


def published_cell(dataset: str, model: str, metric: str, notes: Footnotes) -> Cell:
    """Return a published score with its remarks as a footnote; a dash if the paper prints none."""
    score = published.lookup(dataset, model, metric)
    if score is None:
        return Cell()
    found = remarks(dataset, model, metric)
    note = notes.number(f"published {model} {metric} on {dataset}: {'; '.join(found)}") if found else None
    return Cell(score.mean, score.std, note=note)


def _published_row(dataset: str, model: str, notes: Footnotes) -> Row | None:
    cells = tuple(published_cell(dataset, model, metric, notes) for metric in METRICS)
    return None if all(cell.is_empty for cell in cells) else Row(model, cells)
