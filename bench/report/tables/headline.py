"""The best model of each dataset, its lead, and how certain that is: one row per dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench.paper.names import OURS
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.report.tables.main_results import score_cell
from bench.report.tables.standing import Standing, standing
from bench.stats.draws import LEVEL
from bench.studies.caption import data_remarks, suite_caption
from bench.studies.model_blocks import together
from bench.studies.predicted import Predicted
from bench.studies.suite import Study, Suite

_COLUMNS = ("best", "F1", "second", "F1", "guess", "F1", "lead", "how sure", "test subjects")
_GROUPS = (
    ("by macro F1, percent", 5),
    ("MedMamba, percent", 1),
    ("its lead over its best rival, points", 2),
    ("", 1),
)


def headline(
    suite: Suite, tested: Mapping[str, Predicted], name: str, ranking_recipes: Sequence[str] = ()
) -> Table:
    """Return the best model of each dataset by macro F1 and MedMamba's lead over its best rival.

    Where models were trained by several protocols none is named best; the caption then points to other recipes.

    Parameters
    ----------
    suite
        The studies, a row each.
    tested
        The predictions by dataset.
    name
        Name of the table's files.
    ranking_recipes
        The recipes at hand that train all models by one protocol.
    """
    notes = Footnotes()
    rows = tuple(Row(study.label, _cells(study, tested.get(study.dataset), notes)) for study in suite.studies)
    for study in suite.studies:
        for remark in data_remarks(study):
            notes.number(remark)
    return Table(
        name=name,
        title="Who wins where",
        columns=_COLUMNS,
        groups=_GROUPS,
        blocks=(Block("", rows),),
        caption=(
            "Best and second of the models that have every seed; guess: expected F1 of guessing each class as often as "
            f"it occurs. Lead: with a {LEVEL:.0%} interval for other seeds and other test subjects; the best rival is "
            "the model with the highest F1 on these same test windows. Ahead of all rivals: the intervals of the leads "
            "over all rivals lie above zero. "
            f"{_pointer(suite, ranking_recipes)}{suite_caption(suite, suite.studies)}"
        ),
        footnotes=notes.texts,
        corner="Dataset",
    )


def _pointer(suite: Suite, ranking_recipes: Sequence[str]) -> str:
    """Return which blocks of models are ranked together, or where models are ranked that are not ranked here."""
    if suite.has_one_protocol:
        return together(suite.models, "Compared")
    if not ranking_recipes:
        return ""
    return f"Ranked by one protocol for all models: see the table of recipe {', '.join(ranking_recipes)}. "


def _cells(study: Study, tested: Predicted | None, notes: Footnotes) -> tuple[Cell, ...]:
    for model in study.groups:
        if not study.is_complete(model):
            notes.number(study.gap(model))
    found = standing(study, tested, notes)
    cells: list[Cell] = []
    for place in range(2):
        if place < len(found.order) and study.has_one_protocol:
            model = found.order[place]
            cells.extend([Cell(text=model), score_cell(study.groups[model], "f1")])
        else:
            cells.extend([Cell(), Cell()])
    ours = score_cell(study.groups[OURS], "f1") if OURS in found.f1 else Cell()
    n_subjects = study.record.data.parts["test"].n_subjects
    return (
        *cells,
        Cell(100 * found.guess),
        ours,
        _lead(found, notes),
        Cell(text=found.certainty),
        Cell(text=str(n_subjects)),
    )


def _lead(found: Standing, notes: Footnotes) -> Cell:
    """Return MedMamba's lead over its best rival; without MedMamba the best model's over the second, with a note."""
    if found.lead.is_empty or found.leader == OURS:
        return found.lead
    remark = (
        f"{found.study.label}: no complete MedMamba; the lead is that of {found.leader} over {found.rival}"
    )
    return replace(found.lead, note=notes.number(remark))
