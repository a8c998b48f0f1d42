"""The ablation table from records: the full model and its reduced versions, with what each loses.

Source: table ablation_vertical of the paper (ADFTD). Any dataset with a reduced model has a table.
"""

import numpy as np

from bench.reports.caption import data_remarks, study_caption
from bench.reports.main_results import COLUMNS, chance_rows, score_cell
from bench.reports.suite import OURS, Study, ablation_variants, gap_of, short_name
from bench.reports.table import Block, Cell, Footnotes, Row, Table
from bench.results import published
from bench.results.aggregate import DDOF, METRICS, Group


def ablation_table(study: Study, name: str) -> Table | None:
    """Return the ablation on one dataset, or None where no reduced model was run."""
    groups = {group.model: group for group in study.comparison.groups}
    variants = [variant for variant in ablation_variants() if variant in groups]
    if not variants:
        return None
    notes = Footnotes()
    shown = [model for model in (OURS, *variants) if model in groups]
    measured = tuple(Row(model, _cells(groups[model], study, notes)) for model in shown)
    full = groups.get(OURS)
    losses = tuple(Row(variant, _losses(full, groups[variant], notes)) for variant in variants)
    blocks = [
        Block("measured", measured),
        Block("measured difference to the full model, paired by seed", losses),
        Block("chance on this test split", chance_rows(study.record)),
    ]
    if study.dataset == "adftd":
        blocks.append(Block("published (MedMamba paper; not measured here)", _published(shown)))
    return Table(
        name=name,
        title=f"{short_name(study.dataset)}: ablation",
        columns=COLUMNS,
        blocks=tuple(blocks),
        caption=f"{study_caption(study)} Differences are in percentage points, reduced minus full.",
        footnotes=(*notes.texts, *data_remarks(study)),
    )


def _cells(group: Group, study: Study, notes: Footnotes) -> tuple[Cell, ...]:
    gap = gap_of(group, study.seeds, short_name(study.dataset))
    note = notes.number(gap) if gap else None
    return tuple(Cell(note=note) if gap else score_cell(group, metric) for metric in METRICS)


def _losses(full: Group | None, reduced: Group, notes: Footnotes) -> tuple[Cell, ...]:
    """Return mean and deviation of the seed-wise difference over the same seeds; a dash where they differ."""
    if full is None or full.seeds != reduced.seeds or not full.seeds:
        note = notes.number(f"{reduced.model} and {OURS} do not have the same seeds: no paired difference")
        return (Cell(note=note),) * len(METRICS)
    return tuple(_difference(full, reduced, metric) for metric in METRICS)


def _difference(full: Group, reduced: Group, metric: str) -> Cell:
    pairs = list(zip(_values(full, metric), _values(reduced, metric), strict=True))
    differences = [
        100 * (second - first) for first, second in pairs if first is not None and second is not None
    ]
    if len(differences) < len(pairs):
        return Cell()
    std = float(np.std(differences, ddof=DDOF)) if len(differences) > 1 else None
    return Cell(float(np.mean(differences)), std)


def _values(group: Group, metric: str) -> list[float | None]:
    """Return a test score of each finished seed, in the order of the seeds."""
    return [getattr(one.metrics.test, metric) for one in group.records if one.metrics is not None]


def _published(models: list[str]) -> tuple[Row, ...]:
    printed = {(one.variant, one.metric): Cell(one.mean, one.std) for one in published.ablation()}
    return tuple(
        Row(model, tuple(printed.get((model, metric), Cell()) for metric in METRICS)) for model in models
    )
