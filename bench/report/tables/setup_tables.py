"""The set-up beside the paper's: the datasets, and MedMamba's hyperparameters.

Source: tables dataset_summary and model_config_all of the paper.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bench.paper import published
from bench.paper.names import OURS, short_name
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.studies import kinds
from bench.studies.suite import Study, Suite

_HYPERPARAMETERS = {
    "Hidden dim": "d_model",
    "Layers": "n_layers",
    "SSM expansion": "expand",
    "FFN expansion": "ffn_expansion",
    "CNN strides": "strides",
    "Feature dropout": "dropout",
    "Stochastic depth": "drop_path",
    "Channel dropout": "channel_dropout",
}
_BLANK = Cell(text="")


def dataset_summary(suite: Suite, name: str) -> Table:
    """Return subjects, windows and classes of each dataset as split, beside the paper's counts."""
    notes = Footnotes()
    measured = tuple(Row(study.label, _dataset_cells(study, notes)) for study in suite.studies)
    by_name = {row.dataset: row for row in published.dataset_summary()}
    printed = tuple(
        Row(
            short_name(row.dataset),
            (
                *_counts(row.n_subjects, row.n_windows, row.n_classes, row.n_channels, row.n_times),
                *(_BLANK,) * 4,
                Cell(text=row.modality),
            ),
        )
        for study in suite.studies
        if (row := by_name.get(study.dataset)) is not None
    )
    sentences = sorted({kinds.sentence(study.record.data) for study in suite.studies})
    return Table(
        name=name,
        title="Datasets",
        columns=(
            "Subjects",
            "Windows",
            "Classes",
            "Channels",
            "Steps",
            "Train",
            "Validation",
            "Test",
            "Test subjects",
            "Modality",
        ),
        blocks=(Block("used here", measured), Block("published (MedMamba paper)", printed)),
        caption=(
            f"Counts after preprocessing; a window is what the paper calls a sample. Train, validation and test are "
            f"counted in windows; the split is by subject. Data: {'; '.join(sentences)}."
        ),
        footnotes=notes.texts,
        corner="Dataset",
        unit="count",
    )


def _dataset_cells(study: Study, notes: Footnotes) -> tuple[Cell, ...]:
    data = study.record.data
    parts = [data.parts[part] for part in ("train", "validation", "test")]
    n_subjects, n_windows = sum(part.n_subjects for part in parts), sum(part.n_windows for part in parts)
    found = (n_subjects, n_windows, len(data.class_names), data.n_channels, data.n_times)
    cells = list(_counts(*found, *(part.n_windows for part in parts), parts[2].n_subjects))
    printed = next((row for row in published.dataset_summary() if row.dataset == study.dataset), None)
    if printed:
        expected = (
            printed.n_subjects,
            printed.n_windows,
            printed.n_classes,
            printed.n_channels,
            printed.n_times,
        )
        for column, (wanted, got) in enumerate(zip(expected, found, strict=True)):
            if wanted != got:
                note = notes.number("differs from the published count")
                cells[column] = replace(cells[column], note=note)
    # Not in records: the modality is a fact of the dataset, which the paper's row names.
    return (*cells, _BLANK)


def model_configuration(suite: Suite, name: str) -> Table | None:
    """Return MedMamba's hyperparameters per dataset as run, beside the published ones; None if it was not run."""
    studies = [study for study in suite.studies if OURS in study.groups]
    if not studies:
        return None
    notes = Footnotes()
    printed = {row.dataset: row for row in published.model_configuration()}
    measured, paper = [], []
    for title, field in _HYPERPARAMETERS.items():
        cells, quoted = [], []
        for study in studies:
            ran = study.groups[OURS].records[0].settings["hyperparameters"].get(field)
            stated = getattr(printed[study.dataset], field) if study.dataset in printed else None
            differs = stated is not None and ran is not None and _shown(ran) != _shown(stated)
            note = notes.number("differs from the published value") if differs else None
            if stated is not None and ran is None:
                note = notes.number("fixed in the model's code: no record confirms the published value")
            cells.append(Cell(text=None if ran is None else _shown(ran), note=note))
            quoted.append(Cell(text=None if stated is None else _shown(stated)))
        measured.append(Row(title, tuple(cells)))
        paper.append(Row(title, tuple(quoted)))
    return Table(
        name=name,
        title="MedMamba's configuration",
        columns=tuple(short_name(study.dataset) for study in studies),
        blocks=(Block("as run here", tuple(measured)), Block("published (MedMamba paper)", tuple(paper))),
        caption="Hyperparameters from the records of the cells; a dash where a record or the paper gives none.",
        footnotes=notes.texts,
        corner="Hyperparameter",
        unit="setting",
    )


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"({', '.join(map(_shown, value))})"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _counts(*values: int) -> tuple[Cell, ...]:
    return tuple(Cell(value, text=f"{value:,}") for value in values)
