"""How sure the ablation is: reduced minus full model with intervals over test subjects, and the paper's drops.

Source: table ablation_vertical of the MedMamba paper, whose brackets hold the drops.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.errors import RecordError
from bench.reports.caption import conditions, data, data_remarks
from bench.reports.main_results import COLUMNS
from bench.reports.suite import OURS, Study, ablation_variants, short_name
from bench.reports.table import Block, Cell, Footnotes, Row, Table
from bench.results import published
from bench.results.aggregate import METRICS, Group
from bench.results.bootstrap import CONFUSION_SCORES, Interval, PairedPredictions, paired_difference
from bench.results.predictions import Predictions, load_predictions
from bench.results.ranking import paired_auroc_difference

N_RESAMPLES = 600


def ablation_intervals(out: Path, study: Study, name: str) -> Table | None:
    """Return the differences on one dataset, or None where the full or every reduced model was not run.

    Predictions that cannot be read become footnotes.
    """
    groups = {group.model: group for group in study.comparison.groups}
    variants = [variant for variant in ablation_variants() if variant in groups]
    if OURS not in groups or not variants:
        return None
    notes = Footnotes()
    rows = tuple(Row(one, _cells(out, groups[OURS], groups[one], notes)) for one in variants)
    blocks = [Block("measured, reduced minus full [interval over test subjects]", rows)]
    if study.dataset == "adftd":
        blocks.append(Block("published (MedMamba paper; not measured here)", _published(variants)))
    return Table(
        name=name,
        title=f"{short_name(study.dataset)}: what each part of MedMamba adds, and how sure",
        columns=COLUMNS,
        blocks=tuple(blocks),
        caption=(
            "Percentage points; negative where the part helps. Bold: the interval excludes zero. 95% percentile "
            f"intervals from {N_RESAMPLES} draws of whole test subjects, paired by window and seed, seeds averaged: "
            f"they speak of other subjects, not of other seeds. AUPRC has none. {data(study)} {conditions([study])}"
        ),
        footnotes=(*notes.texts, *data_remarks(study)),
    )  # fmt: skip


def _cells(out: Path, full: Group, reduced: Group, notes: Footnotes) -> tuple[Cell, ...]:
    if full.seeds != reduced.seeds or not full.seeds:
        note = notes.number(f"{reduced.model} and {OURS} do not have the same seeds: no paired difference")
        return (Cell(note=note),) * len(METRICS)
    try:
        first, second = (_predictions(out, group) for group in (reduced, full))
    except RecordError as error:
        return (Cell(note=notes.number(str(error))),) * len(METRICS)
    if not all(one.same_windows(first[0]) for one in (*first, *second)):
        note = notes.number(f"{reduced.model} and {OURS} were tested on different windows")
        return (Cell(note=note),) * len(METRICS)
    return tuple(_cell(_interval(first, second, metric, reduced.model), notes) for metric in METRICS)


def _predictions(out: Path, group: Group) -> list[Predictions]:
    return [load_predictions(out, record) for record in group.records if record.is_done]


def _interval(
    first: Sequence[Predictions], second: Sequence[Predictions], metric: str, model: str
) -> Interval | None:
    label, subject = first[0].label, first[0].subject
    # Draws depend on names only, so that a report is the same when it is rendered again.
    rng = np.random.default_rng(list(f"{model}/{metric}".encode()))
    if metric in CONFUSION_SCORES:
        pair = PairedPredictions(
            label,
            subject,
            np.stack([one.predicted for one in first]),
            np.stack([one.predicted for one in second]),
        )
        return paired_difference(pair, metric, rng, N_RESAMPLES)
    if metric == "auroc":
        mine, other = (np.stack([one.probability for one in model]) for model in (first, second))
        return paired_auroc_difference(label, subject, mine, other, rng, N_RESAMPLES)
    return None


def _cell(interval: Interval | None, notes: Footnotes) -> Cell:
    if interval is None:
        return Cell()
    if not np.isfinite([interval.estimate, interval.low, interval.high]).all():
        return Cell(note=notes.number("no interval: a class is missing from every draw of subjects"))
    note = None
    if interval.few_units:
        note = notes.number(
            f"{interval.n_units} test subjects: the interval is too narrow to be relied on, and nothing is bold"
        )
    sure = interval.excludes_zero and not interval.few_units
    return Cell(
        100 * interval.estimate,
        mark="best" if sure else "",
        note=note,
        low=100 * interval.low,
        high=100 * interval.high,
    )


def _published(variants: Sequence[str]) -> tuple[Row, ...]:
    printed = {(one.variant, one.metric): one.drop for one in published.ablation()}

    def cell(variant: str, metric: str) -> Cell:
        drop = printed.get((variant, metric))
        return Cell() if drop is None else Cell(-drop)

    return tuple(Row(variant, tuple(cell(variant, metric) for metric in METRICS)) for variant in variants)
