"""Robustness to missing sensors: macro F1 over the number of missing channels, channel dropout on and off."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.analyses.contract import Shown
from bench.analyses.missing_sensors.figure import draw
from bench.analyses.missing_sensors.record import (
    CellRobustness,
    GroupRobustness,
    MissingSensorsRecord,
)
from bench.paper.names import short_name
from bench.render.figure import Figure
from bench.render.table import Block, Cell, Footnotes, Row, Table
from bench.stats.summary import DDOF, over_seeds
from bench.studies import kinds
from bench.studies.chance import majority_scores, stratified_scores


def report(_out: Path, records: Sequence[MissingSensorsRecord]) -> Shown:
    """Return a table and a figure for each dataset."""
    return Shown(
        [missing_sensors_table(record) for record in records],
        [missing_sensors_figure(record) for record in records],
    )


def labels(record: MissingSensorsRecord) -> list[str]:
    """Return the names of the groups; equal names are numbered."""
    names = [_label(group) for group in record.groups]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: position + 1].count(name)})"
        for position, name in enumerate(names)
    ]


def pairs(record: MissingSensorsRecord) -> list[tuple[int, int]]:
    """Return the positions of groups that differ in channel dropout only: with it, without it."""
    groups = list(enumerate(record.groups))
    return [
        (on, off)
        for on, first in groups
        for off, second in groups
        if first.channel_dropout and second.channel_dropout == 0 and first.is_same_but_for_dropout(second)
    ]


def worst_channel(group: GroupRobustness) -> int:
    """Return the position of the channel whose absence costs most F1, on average over seeds; the first of equals."""
    n_channels = len(group.cells[0].without)
    means = [sum(cell.without[channel] for cell in group.cells) for channel in range(n_channels)]
    return min(range(n_channels), key=means.__getitem__)


def missing_sensors_table(record: MissingSensorsRecord) -> Table:
    """Return F1 of every group over the number of missing channels, and dropout on minus off."""
    notes = Footnotes()
    names, found = labels(record), pairs(record)
    rows = [_random_row(record, number, found, notes) for number in record.numbers]
    rows.insert(2, _worst_row(record, found, notes))
    chance = [
        Row(label, (Cell(100 * scores["f1"]),) * len(names) + (Cell(),) * len(found))
        for label, scores in (
            ("most frequent class", majority_scores(record.windows_per_class)),
            ("proportional guess", stratified_scores(record.windows_per_class)),
        )
    ]
    differences = [f"{names[on]} minus off" for on, _ in found]
    return Table(
        name=f"missing-sensors-{record.dataset}",
        title=f"{short_name(record.dataset)}: missing sensors",
        columns=(*names, *differences),
        blocks=(Block("measured", tuple(rows)), Block("chance on these windows", tuple(chance))),
        caption=_caption(record),
        footnotes=(*notes.texts, *record.lacking),
        corner="Missing channels",
    )


def missing_sensors_figure(record: MissingSensorsRecord) -> Figure:
    """Return the figure of a record."""
    names = labels(record)
    most = record.numbers[-1]
    ends = ", ".join(
        f"{name} from {100 * _mean(group, 0):.0f} to {100 * _mean(group, most):.0f}"
        for name, group in zip(names, record.groups, strict=True)
    )
    return Figure(
        name=f"missing-sensors-{record.dataset}",
        title=f"{short_name(record.dataset)}: missing sensors",
        caption=f"{_caption(record)} Bands are one standard deviation; the star is the worst single channel.",
        alt=f"Macro F1 in percent over the number of missing channels, none to {most}: {ends}.",
        draw=partial(draw, record, names, 100 * stratified_scores(record.windows_per_class)["f1"]),
        stamp=kinds.stamp(
            short_name(record.dataset), kinds.least_real(group.about.data.kind for group in record.groups)
        ),
    )


def _random_row(
    record: MissingSensorsRecord, number: int, found: Sequence[tuple[int, int]], notes: Footnotes
) -> Row:
    label = "none" if number == 0 else f"{number}, at random"
    groups = record.groups
    cells = [_cell([cell.with_missing(number) for cell in group.cells]) for group in groups]
    differences = [
        _difference(groups[on], groups[off], lambda cell: cell.with_missing(number), notes)
        for on, off in found
    ]
    return Row(label, (*cells, *differences))


def _worst_row(record: MissingSensorsRecord, found: Sequence[tuple[int, int]], notes: Footnotes) -> Row:
    groups = record.groups
    worst = [worst_channel(group) for group in groups]
    cells = [
        _cell(
            [cell.without[channel] for cell in group.cells],
            notes.number(f"the channel that costs most: {record.channel_names[channel]}"),
        )
        for group, channel in zip(groups, worst, strict=True)
    ]
    own = "each without its own worst channel; not a difference on the same channel"
    differences = [Cell(note=notes.number(own)) for _ in found]
    return Row("1, the worst", (*cells, *differences))


def _cell(values: Sequence[float], note: int | None = None) -> Cell:
    mean = over_seeds(values)
    assert mean is not None, "a group has a cell"
    return Cell(100 * mean[0], None if mean[1] is None else 100 * mean[1], note=note)


def _difference(
    first: GroupRobustness,
    second: GroupRobustness,
    value: Callable[[CellRobustness], float],
    notes: Footnotes,
) -> Cell:
    """Return the difference paired by seed, over the seeds of both groups."""
    others = {cell.seed: value(cell) for cell in second.cells}
    both = [value(cell) - others[cell.seed] for cell in first.cells if cell.seed in others]
    if not both:
        return Cell(note=notes.number("no seed in common"))
    note = None
    if len(both) < max(len(first.cells), len(second.cells)):
        note = notes.number(f"over the seeds that both have ({len(both)})")
    return _cell(both, note)


def _label(group: GroupRobustness) -> str:
    rate = group.channel_dropout
    description = {None: "", 0: ", channel dropout off"}.get(rate, f", channel dropout {rate}")
    return f"{group.about.model}{description}"


def _mean(group: GroupRobustness, number: int) -> float:
    return sum(cell.with_missing(number) for cell in group.cells) / len(group.cells)


def _caption(record: MissingSensorsRecord) -> str:
    about = record.groups[0].about
    seeds = "; ".join(
        f"{name}: {', '.join(map(str, group.about.seeds))}"
        for name, group in zip(labels(record), record.groups, strict=True)
    )
    drawn = ""
    if record.n_windows < record.n_windows_of_part:
        drawn = f", drawn by class from {record.n_windows_of_part}"
    return (
        f"Macro F1 in percent on {record.n_windows} test windows{drawn} of {record.n_subjects} subjects, mean and "
        f"sample standard deviation (ddof {DDOF}) over seeds ({seeds}). A missing channel is zero throughout. Random "
        f"channels: mean over {record.n_draws} orders in which channels fail, the same for all cells (seed "
        f"{record.draw_seed}). Data: {kinds.sentence(about.data)} ({about.data.version}). {_conditions(record)}"
    )


def _conditions(record: MissingSensorsRecord) -> str:
    """Describe recipe and settings, once if all groups share them, else for each group."""
    each = {
        name: _condition(record, group) for name, group in zip(labels(record), record.groups, strict=True)
    }
    if len(set(each.values())) == 1:
        return f"Trained by {next(iter(each.values()))}."
    return f"Trained by: {'; '.join(f'{name}: {description}' for name, description in each.items())}."


def _condition(record: MissingSensorsRecord, group: GroupRobustness) -> str:
    """Describe recipe, changed settings and the hyperparameters in which groups of the model differ, except dropout."""
    same_model = [other.hyperparameters for other in record.groups if other.about.model == group.about.model]
    own = [
        f"{name}={value}"
        for name, value in sorted(group.hyperparameters.items())
        if name != "channel_dropout" and any(others.get(name) != value for others in same_model)
    ]
    changed = ", ".join(text for text in (group.about.changes, *own) if text)
    return f"recipe {group.about.recipe}{f', changed: {changed}' if changed else ''}"
