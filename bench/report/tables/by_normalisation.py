"""One dataset's scores under every normalisation of its windows that was tried, side by side."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench.paper.names import in_paper_order, short_name
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
    places: dict[tuple[str, ...], dict[str, list[Study]]] = defaultdict(lambda: defaultdict(list))
    for comparison in comparisons:
        condition = comparison.condition
        place = condition.dataset, condition.recipe, condition.fingerprint, condition.split
        places[place][_without_normalisation(condition.changes)].append(Study(comparison))
    found = [studies for by_changes in places.values() for studies in _alike([*by_changes.values()])]
    return [
        _table(studies, models, f"normalisation-{next(iter(studies.values())).dataset}-{number}")
        for number, (studies, models) in enumerate(found, 1)
    ]


def _alike(groups: Sequence[Sequence[Study]]) -> Iterator[tuple[dict[str, Study], list[str]]]:
    """Yield the studies by normalisation that stand in one table, with the models that have all seeds of two or more.

    A group has the studies with the same changes. Studies of estimators alone stand in every table of their place,
    since changed epochs change nothing for estimators.
    """
    alone = [study for group in groups for study in group if _is_of_estimators(study)]
    for group in [group for group in groups if not all(map(_is_of_estimators, group))] or groups:
        studies = _by_normalisation([*alone, *group])
        complete = Counter(
            model for study in studies.values() for model in study.groups if study.is_complete(model)
        )
        models = [model for model in in_paper_order(complete) if complete[model] > 1]
        if models:
            yield studies, models


def _is_of_estimators(study: Study) -> bool:
    return all(record.is_estimator for record in study.everything.records)


def _table(studies: dict[str, Study], models: Sequence[str], name: str) -> Table:
    """Return models as rows and normalisations as columns."""
    notes = Footnotes()
    largest = max(studies.values(), key=lambda study: len(study.groups))
    rows = tuple(Row(model, _scores(studies, model, notes)) for model in models)
    columns = [[row.cells[number].mean for row in rows] for number in range(len(studies))]
    spread = Row("range over models", (*map(_range, columns), Cell()))
    return Table(
        name=name,
        title=f"{short_name(largest.dataset)}{suffix(largest.record.data)}: macro F1 by normalisation",
        columns=(*studies, "range"),
        groups=(("windows scaled", len(studies)), ("points", 1)),
        blocks=(Block("measured", rows), Block("points between the highest and the lowest", (spread,))),
        caption=(
            f"Macro F1 in percent. {study_setting(_unchanged(largest))} The cells of a row differ only "
            "in normalisation. By the training windows' channels: with mean and deviation of each channel over the "
            "training windows; within each window: with mean and deviation of the channel in that window, which "
            "removes its level and amplitude."
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
