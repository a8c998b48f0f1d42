"""Macro F1 over the number of missing channels, one line per group of cells."""

from typing import TYPE_CHECKING

from bench.analyses.missing_sensors.record import GroupRobustness, MissingSensorsRecord
from bench.render import style
from bench.stats.summary import over_seeds

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)
_MARKERS = ("o", "s", "^", "D", "v", "P")
_LINES = ("-", "--", ":")


def draw(record: MissingSensorsRecord, names: list[str], chance: float) -> "matplotlib.figure.Figure":
    """Draw all groups, and the score of a proportional guess, in percent."""
    figure = style.new_figure(style.COLUMN_IN, 2.6)
    axes = figure.subplots()
    for number, (name, group) in enumerate(zip(names, record.groups, strict=True)):
        _draw_group(axes, record, name, group, number)
    axes.axhline(chance, color=style.FAINT, linewidth=0.8, linestyle=(0, (1, 1)), label="proportional guess")
    axes.set_xticks(record.numbers)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"missing channels of {len(record.channel_names)}")
    axes.set_ylabel("macro F1 (percent)")
    figure.legend(loc="outside lower center", ncols=1)
    return figure


def _draw_group(
    axes: "Axes", record: MissingSensorsRecord, name: str, group: GroupRobustness, number: int
) -> None:
    colour = _COLOURS[number % len(_COLOURS)]
    over = [over_seeds([100 * cell.with_missing(n) for cell in group.cells]) for n in record.numbers]
    known = [(n, score[0], score[1] or 0.0) for n, score in zip(record.numbers, over, strict=True) if score]
    positions, means, deviations = zip(*known, strict=True)
    axes.plot(
        positions,
        means,
        color=colour,
        marker=_MARKERS[number % len(_MARKERS)],
        linestyle=_LINES[number % len(_LINES)],
        label=name,
    )
    low = [mean - deviation for mean, deviation in zip(means, deviations, strict=True)]
    high = [mean + deviation for mean, deviation in zip(means, deviations, strict=True)]
    axes.fill_between(positions, low, high, color=colour, alpha=0.15, linewidth=0)
    worst = min(map(sum, zip(*(cell.without for cell in group.cells), strict=True))) / len(group.cells)
    axes.plot(
        [1], [100 * worst], marker="*", markersize=9, color=colour, markeredgecolor=style.INK, linestyle=""
    )
