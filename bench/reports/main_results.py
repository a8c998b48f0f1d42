"""The main results: measured scores over seeds, chance, and the published row values, never mixed."""

from bench.reports.chance import majority_scores, stratified_scores
from bench.reports.table import Block, Cell, Row, Table, mark_best
from bench.results import published
from bench.results.aggregate import DDOF, METRICS, Comparison, Group
from bench.results.record import Record

COLUMNS = ("Accuracy", "Precision", "Recall", "F1", "AUROC", "AUPRC")
FEW_TEST_SUBJECTS = 10


def main_results(comparison: Comparison, name: str) -> Table:
    """Return the table of one comparison."""
    record = comparison.records[0]
    footnotes: list[str] = []
    measured = mark_best(tuple(_measured_row(group, footnotes) for group in comparison.groups))
    footnotes.extend(_remarks(comparison))
    blocks = [Block("measured", measured), Block("chance on this test split", _chance_rows(record))]
    printed = tuple(
        row
        for group in comparison.groups
        if (row := _published_row(comparison.condition.dataset, group.model))
    )
    if printed:
        blocks.append(Block("published (MedMamba paper; not measured here)", printed))
    return Table(
        name=name,
        title=f"{record.data.title}: main results",
        columns=COLUMNS,
        blocks=tuple(blocks),
        caption=_caption(comparison),
        footnotes=tuple(footnotes),
    )


def _measured_row(group: Group, footnotes: list[str]) -> Row:
    note = None
    if group.failed:
        outcomes = ", ".join(f"seed {record.cell.seed} {record.outcome}" for record in group.failed)
        footnotes.append(f"{group.model}: {outcomes}; not in the mean")
        note = len(footnotes)
    cells = []
    for metric in METRICS:
        score = group.score(metric)
        percent = None if score is None else 100 * score.mean
        deviation = None if score is None or score.std is None else 100 * score.std
        cells.append(Cell(percent, deviation, note=note))
    return Row(group.model, tuple(cells))


def _chance_rows(record: Record) -> tuple[Row, ...]:
    counts = record.data.parts["test"].windows_per_class
    rows = []
    for label, scores in (
        ("majority class", majority_scores(counts)),
        ("stratified guess", stratified_scores(counts)),
    ):
        rows.append(Row(label, tuple(Cell(None if x is None else 100 * x) for x in scores)))
    return tuple(rows)


def _published_row(dataset: str, model: str) -> Row | None:
    scores = [published.lookup(dataset, model, metric) for metric in METRICS]
    if not any(scores):
        return None
    return Row(model, tuple(Cell(one.mean, one.std) if one else Cell() for one in scores))


def _caption(comparison: Comparison) -> str:
    record = comparison.records[0]
    data, test = record.data, record.data.parts["test"]
    seeds = sorted({seed for group in comparison.groups for seed in group.seeds})
    devices = sorted(
        {f"{one.environment.device_name} ({one.environment.device})" for one in comparison.records}
    )
    kind = {
        "whole": "whole dataset",
        "excerpt": "EXCERPT of the dataset",
        "simulated": "SIMULATED data: the scores mean nothing",
    }
    changes = f", changed: {comparison.condition.changes}" if comparison.condition.changes else ""
    spread = (
        f"mean and sample standard deviation (ddof {DDOF}) over seeds"
        if len(seeds) > 1
        else "one seed, no deviation:"
    )
    return (
        f"Test scores in percent, {spread} {', '.join(map(str, seeds)) or 'none'}. "
        f"Data: {kind[data.kind]} ({data.version}). "
        f"Split: {data.split_origin}, {test.n_subjects} test subjects, {test.n_windows} test windows. "
        f"Recipe: {comparison.condition.recipe}{changes}. Device: {'; '.join(devices)}."
    )


def _remarks(comparison: Comparison) -> list[str]:
    remarks = []
    record = comparison.records[0]
    test = record.data.parts["test"]
    absent = [name for name, n in zip(record.data.class_names, test.windows_per_class, strict=True) if n == 0]
    if absent:
        remarks.append(f"no test window of {', '.join(absent)}: left out of the macro means")
    if test.n_subjects < FEW_TEST_SUBJECTS:
        remarks.append(f"only {test.n_subjects} test subjects: differences between models are mostly chance")
    numbers = {len(group.seeds) for group in comparison.groups}
    if len(numbers) > 1:
        remarks.append("models have different numbers of seeds: their means are not over the same cells")
    if comparison.n_superseded:
        remarks.append(f"{comparison.n_superseded} records of earlier revisions are left out")
    return remarks
