"""The scores of cells trained on shuffled labels, beside guesses and beside the same cells with true labels."""

from collections.abc import Sequence

from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.stats.estimate import LEVEL
from bench.studies.caption import data_remarks, devices, numbers, plural
from bench.studies.control_scores import ControlScore, ControlStudy

_COLUMNS = ("F1", f"F1, {LEVEL:.0%} interval", "majority", "stratified", "F1", "verdict")
_GROUPS = (("shuffled labels", 2), ("F1 of a guess", 2), ("true labels", 1), ("", 1))


def control_table(controls: Sequence[ControlStudy]) -> Table:
    """Return a block for each condition, a row for each model, in percent."""
    notes = Footnotes()
    blocks = tuple(
        Block(_heading(control), tuple(_row(control, score, notes) for score in control.scores))
        for control in controls
    )
    for control in controls:
        for remark in data_remarks(control.study):
            notes.number(remark)
    return Table(
        name="controls",
        title="Trained on shuffled labels",
        columns=_COLUMNS,
        groups=_GROUPS,
        blocks=blocks,
        caption=_caption(controls),
        footnotes=notes.texts,
    )


def _row(control: ControlStudy, score: ControlScore, notes: Footnotes) -> Row:
    std, bounds = score.f1.std, score.bounds
    mean = Cell(100 * score.f1.mean, None if std is None else 100 * std)
    if bounds is None:
        interval = Cell(note=notes.number(score.reason))
    else:
        interval = Cell(100 * score.f1.mean, low=100 * bounds.low, high=100 * bounds.high)
    true = Cell() if score.true_f1 is None else Cell(100 * score.true_f1)
    guesses = (Cell(100 * control.majority), Cell(100 * control.stratified))
    return Row(score.model, (mean, interval, *guesses, true, Cell(text=score.verdict)))


def _heading(control: ControlStudy) -> str:
    condition = control.study.comparison.condition
    changed = f", changed: {condition.changes}" if condition.changes else ""
    seeds = numbers(control.study.seeds)
    return f"{control.study.label}, recipe {condition.recipe}{changed}, seeds {seeds}"


def _caption(controls: Sequence[ControlStudy]) -> str:
    n_verdicts = sum(score.bounds is not None for control in controls for score in control.scores)
    records = [record for control in controls for record in control.study.comparison.records]
    return (
        "Macro F1 on the test part in percent, mean and sample deviation over seeds. The labels of the training "
        "windows were shuffled before training, and so were those of the validation windows, by which the best epoch "
        "is chosen; test labels are unchanged. Interval: for other seeds and other test subjects (docs/statistics.md). "
        "Majority: always the most frequent class; stratified: each class as often as it occurs, the best guess that "
        "does not use the signal. Above chance: the interval lies above the stratified guess, so the score has another "
        "source than the shuffled labels, such as test labels. At chance: the interval does not lie above it; a leak "
        "too small for these subjects and seeds is not seen. "
        f"Of {plural(n_verdicts, 'interval')} one in forty lies above chance by luck alone. True labels: "
        f"the same cells without the control. Device: {devices(records)}."
    )
