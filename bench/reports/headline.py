"""Who wins where, by how much and how sure: one line per dataset."""

from collections.abc import Mapping

from bench.reports.caption import data_remarks, suite_caption
from bench.reports.main_results import score_cell
from bench.reports.predicted import Predicted
from bench.reports.significance import LEVEL, N_RESAMPLES, paired_cell
from bench.reports.suite import OURS, Study, Suite
from bench.reports.table import Block, Cell, Footnotes, Row, Table


def headline(suite: Suite, tested: Mapping[str, Predicted], name: str) -> Table:
    """Return the best model of each dataset by macro F1 and MedMamba's lead over its best rival.

    `tested` holds the predictions by dataset.
    """
    notes = Footnotes()
    rows = tuple(Row(study.label, _cells(study, tested.get(study.dataset), notes)) for study in suite.studies)
    remarks = [remark for study in suite.studies for remark in data_remarks(study)]
    return Table(
        name=name,
        title="Who wins where",
        columns=(
            "best",
            "F1",
            "second",
            "F1",
            "MedMamba's F1",
            "lead over best rival",
            "how sure",
            "test subjects",
        ),
        groups=(("by macro F1, percent", 4), ("MedMamba, percentage points", 3), ("", 1)),
        blocks=(Block("", rows),),
        caption=(
            f"{suite_caption(suite, suite.studies)} Only models that have every seed. Lead: with a {LEVEL:.0%} "
            f"interval from {N_RESAMPLES} draws of test subjects."
        ),
        footnotes=(*notes.texts, *remarks),
        corner="Dataset",
    )


def _cells(study: Study, tested: Predicted | None, notes: Footnotes) -> tuple[Cell, ...]:
    for model in study.groups:
        if not study.is_complete(model):
            notes.number(study.gap(model))
    scores = {model: score for model in study.groups if (score := _f1(study, model)) is not None}
    order = sorted(scores, key=lambda model: (-scores[model], model))
    cells: list[Cell] = []
    for place in range(2):
        if place < len(order):
            cells.extend([Cell(text=order[place]), score_cell(study.groups[order[place]], "f1")])
        else:
            cells.extend([Cell(), Cell()])
    lead = Cell()
    rivals = [model for model in order if model != OURS]
    ours = score_cell(study.groups[OURS], "f1") if OURS in scores else Cell()
    if OURS in scores and rivals and tested is not None:
        lead = paired_cell(tested, rivals[0], "f1", notes)
    n_subjects = study.record.data.parts["test"].n_subjects
    return (*cells, ours, lead, Cell(text=_certainty(study, lead)), Cell(text=str(n_subjects)))


def _f1(study: Study, model: str) -> float | None:
    """Return the mean F1 of a complete model."""
    score = study.groups[model].score("f1") if study.is_complete(model) else None
    return None if score is None else score.mean


def _certainty(study: Study, lead: Cell) -> str:
    """Say in words what the interval of the lead means."""
    if study.record.data.kind == "simulated":
        return "simulated: means nothing"
    if lead.low is None or lead.high is None:
        return "no interval"
    if study.test_is_small:
        return "too few subjects to say"
    if lead.low > 0:
        return "ahead: interval above zero"
    return "behind: interval below zero" if lead.high < 0 else "open: interval spans zero"
