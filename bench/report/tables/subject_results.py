"""Tables beyond the paper: results per subject with calibration, and the scores of each class."""

from collections.abc import Callable, Sequence

import numpy as np

from bench.paper.names import short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table, mark_cells
from bench.stats.summary import DDOF
from bench.studies.aggregate import Group
from bench.studies.caption import data_remarks, study_caption
from bench.studies.model_blocks import together
from bench.studies.predicted import Predicted, PredictedCell
from bench.studies.subject_scores import N_BINS, confusion, confusion_score
from bench.studies.suite import Study

_CLASS_SCORES = {
    "Precision": "precision",
    "Recall": "recall",
    "F1": "f1",
    "AUROC": "auroc",
    "AUPRC": "auprc",
}

_Score = Callable[[PredictedCell], float]


def subject_results(tested: Predicted, name: str) -> Table | None:
    """Return window, vote and calibration results; None if there are no predictions."""
    if not tested.cells:
        return None
    notes, study = Footnotes(), tested.study
    columns = _columns(tested)
    rows = []
    for model in study.groups:
        gap = "" if tested.is_complete(model) else study.gap(model) or f"{model}: predictions are missing"
        note = notes.number(gap) if gap else None
        cells = [
            Cell(note=note) if gap or score is None else _over_seeds(tested.cells[model], score)
            for _, _, score in columns
        ]
        rows.append(Row(model, tuple(cells)))
    no_votes = tested.grouping is not None and tested.grouping.label is None
    remark = (
        ["subjects have windows of several classes: there is no vote on a subject's class"]
        if no_votes
        else []
    )
    return Table(
        name=name,
        title=f"{short_name(study.dataset)}: results by subject, and calibration",
        columns=tuple(title for _, title, _ in columns),
        groups=(
            ("windows", 2),
            ("majority vote", 2),
            ("mean probability vote", 2),
            ("windows", 1),
            ("subjects", 1),
        ),
        blocks=(Block("measured", _marked(rows, n_better_high=6)),),
        caption=(
            f"{study_caption(study)} {together(study.groups, 'Marked')}Balanced accuracy is the mean recall of the "
            f"classes present, the same as macro recall. A vote gives each subject one class. Calibration error: the "
            f"expected calibration error with {N_BINS} equal bins of confidence, lower is better. Lowest subject: the "
            "lowest accuracy that a subject's windows have."
        ),
        footnotes=(*notes.texts, *remark, *data_remarks(study)),
    )


def _columns(tested: Predicted) -> list[tuple[str, str, _Score | None]]:
    """Return group, title and score (a fraction; None without votes) of each column."""
    found = tested.grouping.label if tested.grouping is not None else None
    n_classes = len(tested.class_names)

    def of_vote(kind: str, metric: str) -> _Score | None:
        if found is None:
            return None
        label = found
        return lambda cell: confusion_score(confusion(label, getattr(cell.votes, kind), n_classes), metric)

    return [
        ("windows", "accuracy", lambda cell: confusion_score(cell.windows, "accuracy")),
        ("windows", "balanced", lambda cell: confusion_score(cell.windows, "recall")),
        ("majority vote", "accuracy", of_vote("majority", "accuracy")),
        ("majority vote", "F1", of_vote("majority", "f1")),
        ("mean probability vote", "accuracy", of_vote("mean_probability", "accuracy")),
        ("mean probability vote", "F1", of_vote("mean_probability", "f1")),
        ("windows", "calibration error", lambda cell: cell.reliability.calibration_error),
        ("subjects", "lowest", lambda cell: float(cell.votes.accuracy.min())),
    ]


def _over_seeds(cells: Sequence[PredictedCell], score: _Score) -> Cell:
    values = [100 * score(cell) for cell in cells]
    return Cell(float(np.mean(values)), float(np.std(values, ddof=DDOF)) if len(values) > 1 else None)


def _marked(rows: Sequence[Row], n_better_high: int) -> tuple[Row, ...]:
    """Mark the best cells of the first columns, in which more is better."""
    columns = [
        mark_cells(column) if number < n_better_high else column
        for number, column in enumerate(zip(*(row.cells for row in rows), strict=True))
    ]
    return tuple(
        Row(row.label, tuple(cells)) for row, cells in zip(rows, zip(*columns, strict=True), strict=True)
    )


def class_results(study: Study, name: str) -> Table:
    """Return the scores of each class, one against the rest, over the seeds of each complete model."""
    notes = Footnotes()
    counts = study.record.data.parts["test"].windows_per_class
    blocks = []
    for class_name, n_windows in zip(study.record.data.class_names, counts, strict=True):
        rows = []
        for model, group in study.groups.items():
            if study.is_complete(model):
                cells = [_class_cell(group, class_name, field) for field in _CLASS_SCORES.values()]
            else:
                cells = [Cell(note=notes.number(study.gap(model)))] * len(_CLASS_SCORES)
            rows.append(Row(model, tuple(cells)))
        blocks.append(Block(f"{class_name} ({n_windows} test windows)", _marked(rows, len(_CLASS_SCORES))))
    return Table(
        name=name,
        title=f"{short_name(study.dataset)}: scores of each class",
        columns=tuple(_CLASS_SCORES),
        blocks=tuple(blocks),
        caption=f"{study_caption(study)} {together(study.groups, 'Marked')}Each class against the rest.",
        footnotes=(*notes.texts, *data_remarks(study)),
    )


def _class_cell(group: Group, class_name: str, field: str) -> Cell:
    """Return one score of a class over seeds; a dash if it is undefined or the class is absent."""
    values = [
        100 * value
        for record in group.records
        if record.metrics and (scores := record.metrics.test.per_class.get(class_name))
        if (value := getattr(scores, field)) is not None
    ]
    if not values:
        return Cell()
    return Cell(float(np.mean(values)), float(np.std(values, ddof=DDOF)) if len(values) > 1 else None)
