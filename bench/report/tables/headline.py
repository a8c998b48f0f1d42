"""The best model of each dataset, its lead, and how certain that is: one row per dataset."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench.paper.names import OURS
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.report.tables.main_results import score_cell
from bench.report.tables.significance import paired_cell
from bench.stats.draws import LEVEL
from bench.stats.unknowable import NoIntervalError
from bench.stats.verdict import Decision, decide_all_positive
from bench.studies.caption import data_remarks, suite_caption
from bench.studies.chance import stratified_scores
from bench.studies.predicted import Predicted
from bench.studies.suite import Study, Suite

_COLUMNS = ("best", "F1", "second", "F1", "guess", "F1", "lead", "how sure", "test subjects")
_GROUPS = (
    ("by macro F1, percent", 5),
    ("MedMamba, percent", 1),
    ("its lead over its best rival, points", 2),
    ("", 1),
)


_CERTAINTY = {
    Decision.SUPPORTED: "ahead of all rivals",
    Decision.CONTRADICTED: "behind a rival",
    Decision.UNDECIDED: "undecided",
}


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
            "Best and second of the models that have every seed; guess: expected F1 of guessing each class with its "
            f"share. Lead: with a {LEVEL:.0%} interval for other seeds and other test subjects; the rival is the one "
            "with the highest F1 on these same test windows. Ahead: the intervals over all rivals lie above zero. "
            f"{_pointer(suite, ranking_recipes)}{suite_caption(suite, suite.studies)}"
        ),
        footnotes=notes.texts,
        corner="Dataset",
    )


def _pointer(suite: Suite, ranking_recipes: Sequence[str]) -> str:
    """Return where models are ranked that are not ranked here."""
    if suite.has_one_protocol or not ranking_recipes:
        return ""
    return f"Ranked by one protocol for all models: see the table of recipe {', '.join(ranking_recipes)}. "


def _cells(study: Study, tested: Predicted | None, notes: Footnotes) -> tuple[Cell, ...]:
    for model in study.groups:
        if not study.is_complete(model):
            notes.number(study.gap(model))
    order = ranked(study)
    cells: list[Cell] = []
    for place in range(2):
        if place < len(order) and study.has_one_protocol:
            cells.extend([Cell(text=order[place]), score_cell(study.groups[order[place]], "f1")])
        else:
            cells.extend([Cell(), Cell()])
    guess = _guess(study)
    ours = score_cell(study.groups[OURS], "f1") if OURS in order else Cell()
    lead = _lead(order, tested, notes) if study.has_one_protocol else Cell()
    n_subjects = study.record.data.parts["test"].n_subjects
    return (*cells, Cell(100 * guess), ours, lead, certainty_cell(study, tested), Cell(text=str(n_subjects)))


def ranked(study: Study) -> list[str]:
    """Return the complete models of a dataset, the one with the highest F1 first."""
    scores = {model: score for model in study.groups if (score := _f1(study, model)) is not None}
    return sorted(scores, key=lambda model: (-scores[model], model))


def certainty_cell(study: Study, tested: Predicted | None) -> Cell:
    """Say whether MedMamba, else the best model, is surely ahead of all rivals, or what makes that meaningless."""
    order = ranked(study)
    is_above = bool(order) and (_f1(study, order[0]) or 0.0) > _guess(study)
    return Cell(text=_certainty(study, tested, order, is_above=is_above))


def _guess(study: Study) -> float:
    return stratified_scores(study.record.data.parts["test"].windows_per_class)["f1"]


def _lead(order: list[str], tested: Predicted | None, notes: Footnotes) -> Cell:
    """Return MedMamba's lead over its best rival; without MedMamba the best model's over the second, with a note."""
    if tested is None or len(order) < 2:
        return Cell()
    if OURS in order:
        return paired_cell(tested, next(model for model in order if model != OURS), "f1", notes)
    lead = paired_cell(tested, order[1], "f1", notes, model=order[0])
    remark = f"{tested.study.label}: no complete MedMamba; the lead is that of {order[0]} over {order[1]}"
    number = notes.number(remark)
    return replace(lead, note=number)


def _f1(study: Study, model: str) -> float | None:
    """Return the mean F1 of a complete model."""
    score = study.groups[model].score("f1") if study.is_complete(model) else None
    return None if score is None else score.mean


def _certainty(study: Study, tested: Predicted | None, order: list[str], *, is_above: bool) -> str:
    if study.record.data.kind == "simulated":
        return "not interpretable (simulated)"
    if not study.has_one_protocol:
        return "not one protocol: no ranking"
    if not is_above:
        return "best is no better than a guess"
    leader = OURS if OURS in order else order[0]
    rivals = [model for model in order if model != leader]
    if tested is None or not rivals or not all(map(tested.is_complete, order)):
        return "nothing to compare"
    if len(study.seeds) < 2:
        return "one seed: no verdict"
    try:
        leads = [tested.lead(leader, rival, "f1") for rival in rivals]
    except NoIntervalError:
        return "too few subjects to say"
    if any(lead.few_subjects for lead in leads):
        return "too few subjects to say"
    return _CERTAINTY[decide_all_positive(leads)]
