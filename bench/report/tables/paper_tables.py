"""The paper's two main tables from records: ECG with a row per model, EEG and activity with a row per metric.

Source: tables main_results1 and main_results2 of the paper, whose orientations are kept. A model that lacks a seed
has a dash with a footnote; its mean over the other seeds is in the table of the dataset. Under the paper's recipe,
the paper's models and datasets that were not run are shown as missing, so that a partial grid never looks whole.
"""

from collections.abc import Sequence
from dataclasses import replace

from bench.paper import published
from bench.paper.names import PAPER_RECIPE, in_paper_order, short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table, mark_cells
from bench.report.tables.main_results import (
    ATTAINABLE,
    PUBLISHED,
    attainable_rows,
    chance_rows,
    measured_blocks,
    published_cell,
    score_cell,
)
from bench.report.tables.rank_cells import rank_cells
from bench.results.metrics import METRICS
from bench.studies.caption import data_remarks, suite_caption
from bench.studies.model_blocks import blocks_of
from bench.studies.suite import Study, Suite

ECG = ("ptb", "ptb-xl")
EEG_AND_ACTIVITY = ("adftd", "apava", "sleep-edf", "uci-har")


def ecg_table(suite: Suite, name: str) -> Table | None:
    """Return the ECG table: models as rows, datasets and metrics as columns; None if no ECG dataset was run."""
    studies = _studies(suite, ECG)
    if not studies:
        return None
    models, notes = _models(suite, studies), Footnotes()
    ranks = rank_cells(studies, models, tuple(METRICS), notes)
    rows = tuple(
        Row(model, tuple(cell for study in studies for cell in _cells(study, model, notes)))
        for model in models
    )
    rank_of = dict(zip(models, ranks, strict=True))
    measured = measured_blocks(rows, marked=all(study.may_rank for study in studies))
    ranked = [
        replace(block, rows=tuple(Row(row.label, (*row.cells, rank_of[row.label])) for row in block.rows))
        for block in measured
    ]
    return Table(
        name=name,
        title="Main results on ECG classification",
        columns=(*tuple(METRICS.values()) * len(studies), "rank"),
        groups=(*((study.label, len(METRICS)) for study in studies), ("Average", 1)),
        blocks=(
            *ranked,
            Block("chance on these test splits", _chance(studies)),
            Block(ATTAINABLE, _attainable(studies)),
            Block(PUBLISHED, _published_rows(studies, models, notes)),
        ),
        caption=suite_caption(suite, studies),
        footnotes=(*notes.texts, *_remarks(suite, studies, ECG)),
    )


def eeg_table(suite: Suite, name: str) -> Table | None:
    """Return the EEG and activity table: datasets and metrics as rows, models as columns; None if none was run."""
    studies = _studies(suite, EEG_AND_ACTIVITY)
    if not studies:
        return None
    models, notes = _models(suite, studies), Footnotes()
    references = tuple(dict.fromkeys(row.label for study in studies for row in _reference_rows(study)))
    empty = (Cell(text=""),) * len(references)
    ranks = rank_cells(studies, models, tuple(METRICS), notes)
    blocks: list[Block] = []
    for study in studies:
        blocks.append(Block(study.label, _metric_rows(study, models, references, notes)))
        printed = tuple(
            Row(
                title,
                (*(published_cell(study.dataset, model, metric, notes) for model in models), *empty),
            )
            for metric, title in METRICS.items()
            if metric in published.METRICS
        )
        blocks.append(Block(f"{short_name(study.dataset)}, {PUBLISHED}", printed))
    blocks.append(Block("measured, all rows above", (Row("average rank", (*ranks, *empty)),)))
    return Table(
        name=name,
        title="Main results on EEG and human activity classification",
        columns=(*models, *references),
        groups=_over_columns(models, len(references)),
        corner="Metric",
        blocks=tuple(blocks),
        caption=suite_caption(suite, studies),
        footnotes=(*notes.texts, *_remarks(suite, studies, EEG_AND_ACTIVITY)),
    )


def _studies(suite: Suite, datasets: Sequence[str]) -> list[Study]:
    return [study for name in datasets if (study := suite.study(name))]


def _models(suite: Suite, studies: Sequence[Study]) -> tuple[str, ...]:
    """Return the models that were run and, under the paper's recipe, those of the paper; block by block."""
    expected = published.models() if suite.recipe == PAPER_RECIPE else ()
    run = in_paper_order({model for study in studies for model in study.groups} | set(expected))
    return tuple(model for members in blocks_of(run).values() for model in members)


def _over_columns(models: Sequence[str], n_references: int) -> tuple[tuple[str, int], ...]:
    """Return the headings of blocks over columns of models, and one over chance; none over a single block."""
    blocks = blocks_of(models)
    apart = tuple((heading, len(members)) for heading, members in blocks.items())
    return (
        (*apart, ("chance" if n_references == 2 else "for comparison", n_references))
        if len(blocks) > 1
        else ()
    )


def _cells(study: Study, model: str, notes: Footnotes) -> tuple[Cell, ...]:
    """Return a model's scores on a dataset, or a dash for each with a note on what is missing."""
    if not study.is_complete(model):
        gap = study.gap(model) if model in study.groups else "not run"
        return (Cell(note=notes.number(gap)),) * len(METRICS)
    return tuple(score_cell(study.groups[model], metric) for metric in METRICS)


def _reference_rows(study: Study) -> tuple[Row, ...]:
    """Return the scores that no model made: of chance, and the attainable ones where they are known."""
    return (*chance_rows(study.record), *attainable_rows(study.record))


def _metric_rows(
    study: Study, models: Sequence[str], references: Sequence[str], notes: Footnotes
) -> tuple[Row, ...]:
    columns = [_cells(study, model, notes) for model in models]
    known = {row.label: row.cells for row in _reference_rows(study)}
    beside = [known.get(label, (Cell(),) * len(METRICS)) for label in references]
    mark = mark_cells if study.may_rank else tuple
    cells = dict(zip(models, columns, strict=True))
    return tuple(
        Row(
            title,
            (
                *(
                    cell
                    for members in blocks_of(models).values()
                    for cell in mark(cells[model][number] for model in members)
                ),
                *(cells[number] for cells in beside),
            ),
        )
        for number, title in enumerate(METRICS.values())
    )


def _attainable(studies: Sequence[Study]) -> tuple[Row, ...]:
    """Return one row of the attainable scores, with dashes for the datasets where they are not known, or none."""
    of_studies = [attainable_rows(study.record) for study in studies]
    labels = {row.label for rows in of_studies for row in rows}
    unknown = (Cell(),) * len(METRICS)
    return tuple(
        Row(
            label,
            (*(cell for rows in of_studies for cell in (rows[0].cells if rows else unknown)), Cell(text="")),
        )
        for label in labels
    )


def _chance(studies: Sequence[Study]) -> tuple[Row, ...]:
    of_studies = [chance_rows(study.record) for study in studies]
    return tuple(
        Row(rows[0].label, (*(cell for row in rows for cell in row.cells), Cell(text="")))
        for rows in zip(*of_studies, strict=True)
    )


def _published_rows(studies: Sequence[Study], models: Sequence[str], notes: Footnotes) -> tuple[Row, ...]:
    """Return the published rows of the models that the paper has."""
    return tuple(
        Row(
            model,
            (
                *(
                    published_cell(study.dataset, model, metric, notes)
                    for study in studies
                    for metric in METRICS
                ),
                Cell(text=""),
            ),
        )
        for model in models
        if model in published.models()
    )


def _remarks(suite: Suite, studies: Sequence[Study], wanted: Sequence[str]) -> list[str]:
    absent = [short_name(name) for name in wanted if suite.study(name) is None]
    missing = [f"not run: {', '.join(absent)}"] if absent and suite.recipe == PAPER_RECIPE else []
    return [*missing, *(remark for study in studies for remark in data_remarks(study))]
