"""Models by datasets: the macro F1 of every cell of the grid in one table, the first that a reader looks at."""

from bench.paper import published
from bench.paper.names import short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table, mark_cells
from bench.report.tables.main_results import PUBLISHED, chance_rows, published_cell, score_cell
from bench.results.metrics import METRICS
from bench.studies import kinds
from bench.studies.caption import data_remarks, suite_caption
from bench.studies.model_blocks import blocks_of
from bench.studies.suite import Study, Suite


def f1_matrix(suite: Suite, name: str) -> Table | None:
    """Return macro F1 in percent, models as rows and datasets as columns; None if no model was run."""
    if not suite.models:
        return None
    notes = Footnotes()
    of_blocks = blocks_of(suite.models)
    is_marked = len(of_blocks) > 1 and any(study.may_rank for study in suite.studies)
    apart = ", best of this block marked" if is_marked else ""
    blocks = [
        Block(f"measured: {heading}{apart}", _measured(suite, members, notes))
        for heading, members in of_blocks.items()
    ]
    quoted = tuple(model for model in suite.models if model in published.models())
    return Table(
        name=name,
        title="Macro F1 of every model on every dataset",
        columns=tuple(
            f"{short_name(study.dataset)}{kinds.suffix(study.record.data)}" for study in suite.studies
        ),
        blocks=(
            *blocks,
            Block("chance on these test splits", _chance(suite)),
            *([Block(PUBLISHED, _published(suite, quoted, notes))] if quoted else []),
        ),
        caption=suite_caption(suite, suite.studies),
        footnotes=(*notes.texts, *(remark for study in suite.studies for remark in data_remarks(study))),
    )


def _measured(suite: Suite, models: tuple[str, ...], notes: Footnotes) -> tuple[Row, ...]:
    """Return a row for each model of a block; marks are per dataset, where models may be ranked."""
    columns = []
    for study in suite.studies:
        cells = [_cell(study, model, notes) for model in models]
        columns.append(mark_cells(cells) if study.may_rank else tuple(cells))
    rows = zip(*columns, strict=True)
    return tuple(Row(model, tuple(cells)) for model, cells in zip(models, rows, strict=True))


def _cell(study: Study, model: str, notes: Footnotes) -> Cell:
    if study.is_complete(model):
        return score_cell(study.groups[model], "f1")
    return Cell(note=notes.number(study.gap(model)))


def _chance(suite: Suite) -> tuple[Row, ...]:
    place = list(METRICS).index("f1")
    of_studies = [chance_rows(study.record) for study in suite.studies]
    return tuple(
        Row(rows[0].label, tuple(row.cells[place] for row in rows)) for rows in zip(*of_studies, strict=True)
    )


def _published(suite: Suite, models: tuple[str, ...], notes: Footnotes) -> tuple[Row, ...]:
    return tuple(
        Row(model, tuple(published_cell(study.dataset, model, "f1", notes) for study in suite.studies))
        for model in models
    )
