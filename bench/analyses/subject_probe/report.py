"""The report on the subject probe: who is recognised in features, beside untrained features, windows and chance."""

from collections.abc import Sequence
from pathlib import Path

from bench.analyses.cells_caption import data_caption
from bench.analyses.contract import Shown
from bench.analyses.subject_probe.record import NAME, SubjectProbeRecord
from bench.paper.names import in_paper_order, in_report_order, short_name
from bench.render.table import Block, Cell, Row, Table
from bench.stats.summary import DDOF, over_seeds
from bench.studies import kinds
from bench.studies.caption import numbers

_COLUMNS = ("features", "untrained", "gain", "raw windows", "most frequent", "subjects", "test windows")
_GROUPS = (("subject recognised, percent", 5), ("", 2))


def report(out: Path, records: Sequence[SubjectProbeRecord]) -> Shown:
    """Return the table; the results folder ``out`` holds no arrays for it."""
    return Shown([probe_table(records)])


def probe_table(records: Sequence[SubjectProbeRecord]) -> Table:
    """Return a block for each dataset and a row for each model."""
    by_dataset: dict[str, dict[str, SubjectProbeRecord]] = {}
    for record in records:
        by_dataset.setdefault(record.cells.dataset, {})[record.cells.model] = record
    blocks = tuple(
        Block(_heading(by_dataset[name]), tuple(_row(found) for found in _ordered(by_dataset[name])))
        for name in in_report_order(by_dataset)
    )
    return Table(
        name=NAME,
        title="Training subjects recognised by a linear probe",
        columns=_COLUMNS,
        groups=_GROUPS,
        blocks=blocks,
        caption=_caption(records),
    )


def _ordered(of_dataset: dict[str, SubjectProbeRecord]) -> list[SubjectProbeRecord]:
    return [of_dataset[model] for model in in_paper_order(of_dataset)]


def _row(record: SubjectProbeRecord) -> Row:
    seeds = record.seeds
    columns = (
        [seed.trained for seed in seeds],
        [seed.untrained for seed in seeds],
        [seed.trained - seed.untrained for seed in seeds],
    )
    counts = (record.n_subjects, record.n_tested)
    return Row(
        record.cells.model,
        (
            *map(_percent, columns),
            Cell(100 * record.raw),
            Cell(100 * record.chance),
            *(Cell(text=f"{count:,}") for count in counts),
        ),
    )


def _percent(values: Sequence[float]) -> Cell:
    found = over_seeds([100 * value for value in values])
    return Cell(*found) if found else Cell()


def _heading(of_dataset: dict[str, SubjectProbeRecord]) -> str:
    data = next(iter(of_dataset.values())).cells.data
    return f"{short_name(next(iter(of_dataset.values())).cells.dataset)}{kinds.suffix(data)}"


def _caption(records: Sequence[SubjectProbeRecord]) -> str:
    each = "; ".join(
        f"{record.cells.model} on {short_name(record.cells.dataset)}, recipe {record.cells.recipe}, changed: "
        f"{record.cells.changes or 'nothing'}, seeds {numbers(record.cells.seeds)}, {record.n_features:,} features, "
        f"{record.n_subjects} of {record.n_subjects_of_part} training subjects"
        for record in records
    )
    data = "; ".join(dict.fromkeys(data_caption(record.cells.data) for record in records))
    return (
        f"Mean and sample standard deviation (ddof {DDOF}) over trained seeds. Logistic regression on standardised "
        "features before the classifier gives the subject of a window among the training subjects. It is fitted on the "
        "first part of each subject's windows in time and tested on the last; the tenth between is left out, as "
        "neighbouring windows overlap. Untrained: the same probe on the weights that training began with; gain: what "
        "training adds, in points. Raw windows: the same probe on the scaled windows themselves. Most frequent: always "
        "the subject with most test windows. A model that recognises its subjects is not wrong for that, but it can be "
        f"right about them for a reason that does not hold for other subjects. Cells: {each}. Data: {data}."
    )
