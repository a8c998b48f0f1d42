"""One dataset's scores under every normalisation of its windows that was tried, side by side."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from bench.paper.names import short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.report.tables.main_results import score_cell
from bench.studies.aggregate import Comparison
from bench.studies.caption import study_setting
from bench.studies.kinds import suffix
from bench.studies.suite import Study

_WORDS = {
    "none": "none",
    "channel": "by the training windows' channels",
    "window": "within each window",
}


def normalisation_tables(comparisons: Sequence[Comparison]) -> list[Table]:
    """Return a table for each set of comparisons that differ in nothing but normalisation."""
    alike: dict[tuple[str, ...], list[Study]] = defaultdict(list)
    for comparison in comparisons:
        condition = comparison.condition
        changes = _without_normalisation(condition.changes)
        place = condition.dataset, condition.recipe, condition.fingerprint, condition.split, changes
        alike[place].append(Study(comparison))
    chosen = [studies for studies in alike.values() if len(_by_normalisation(studies)) > 1]
    return [
        _table(_by_normalisation(studies), f"normalisation-{studies[0].dataset}-{number}")
        for number, studies in enumerate(chosen, 1)
    ]


def _table(studies: dict[str, Study], name: str) -> Table:
    """Return models as rows and normalisations as columns; only models with all seeds under two or more."""
    notes = Footnotes()
    first = next(iter(studies.values()))
    models = [
        model
        for model in dict.fromkeys(model for study in studies.values() for model in study.groups)
        if sum(study.is_complete(model) for study in studies.values()) > 1
    ]
    rows = tuple(Row(model, _scores(studies, model, notes)) for model in models)
    columns = [[row.cells[number].mean for row in rows] for number in range(len(studies))]
    spread = Row("range over models", (*map(_range, columns), Cell()))
    return Table(
        name=name,
        title=f"{short_name(first.dataset)}{suffix(first.record.data)}: macro F1 by normalisation",
        columns=(*studies, "range"),
        groups=(("windows scaled", len(studies)), ("points", 1)),
        blocks=(Block("measured", rows), Block("points between the highest and the lowest", (spread,))),
        caption=(
            f"Macro F1 in percent. {study_setting(_unchanged(first))} All but the normalisation is the same in a row. "
            "Scaled by channels: with mean and deviation of each channel over the training windows; within each "
            "window: with those of the channel in that window, which takes its level and amplitude away."
        ),
        footnotes=notes.texts,
    )


def _scores(studies: dict[str, Study], model: str, notes: Footnotes) -> tuple[Cell, ...]:
    cells = [
        score_cell(study.groups[model], "f1")
        if study.is_complete(model)
        else Cell(note=notes.number(f"{normalisation}: {study.gap(model)}"))
        for normalisation, study in studies.items()
    ]
    return (*cells, _range([cell.mean for cell in cells]))


def _range(values: Sequence[float | None]) -> Cell:
    known = [value for value in values if value is not None]
    return Cell(max(known) - min(known), unit="points") if len(known) > 1 else Cell()


def _by_normalisation(studies: Sequence[Study]) -> dict[str, Study]:
    """Return the study of each normalisation by its name in words, in a fixed order."""
    found = {study.comparison.condition.normalisation: study for study in studies}
    return {words: found[name] for name, words in _WORDS.items() if name in found}


def _unchanged(study: Study) -> Study:
    """Return a study whose caption does not tell its normalisation."""
    condition = study.everything.condition
    changes = _without_normalisation(condition.changes)
    return Study(replace(study.everything, condition=replace(condition, changes=changes)))


def _without_normalisation(changes: str) -> str:
    kept = [change for change in changes.split(", ") if not change.startswith("normalisation=")]
    return ", ".join(kept)
