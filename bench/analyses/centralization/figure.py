"""Published against measured centralization: one line per dataset, one mark per reading of the paper."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bench.analyses.centralization.record import CentralizationRecord, Choice, Index, Reading, choices
from bench.paper import published
from bench.paper.names import short_name
from bench.render import style
from bench.render.figure import Figure
from bench.studies import kinds

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

COLOURS: dict[Reading, str] = {
    "as printed": style.BLUE,
    "mean removed": style.GREEN,
    "least squares": style.PURPLE,
}
_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
MARKERS = {"window": "o", "recording": "s"}


def centralization_figure(records: Sequence[CentralizationRecord], caption: str) -> Figure | None:
    """Return the figure of records; datasets of one channel are left out, and None where there are no others."""
    shown = [record for record in records if record.n_channels > 1]
    if not shown:
        return None
    return Figure(
        name="centralization",
        title="Centralization: published and measured",
        caption=f"Both indices, published and under every reading of the paper. {caption}",
        alt=(
            f"Two panels of marks for {len(shown)} datasets: the spectral index and, on a logarithmic axis, the "
            "dynamic one, each as published and as measured under every choice."
        ),
        draw=partial(draw, shown),
        stamp=kinds.STAMPS[kinds.least_real(record.kind for record in shown)],
    )


def draw(records: Sequence[CentralizationRecord]) -> "matplotlib.figure.Figure":
    """Draw the two indices side by side."""
    n_marks = 1 + len(choices(records, "dic"))
    figure = style.new_figure(style.PAGE_IN, 1.1 + 0.09 * n_marks + 0.28 * len(records))
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_index(left, records, "sci", "spectral index (SCI)")
    _draw_index(right, records, "dic", "dynamic index (DIC)")
    _set_log_axis(right)
    left.set_xlim(0, 1)
    left.set_yticks(range(len(records)), [_label(record) for record in records])
    left.set_ylim(len(records) - 0.5, -0.5)
    for axes in (left, right):
        axes.grid(axis="y", visible=False)
        for line in range(1, len(records)):
            axes.axhline(line - 0.5, color=style.GRID, linewidth=0.5)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _draw_index(axes: "Axes", records: Sequence[CentralizationRecord], index: Index, title: str) -> None:
    printed = {row.dataset: getattr(row, index) for row in published.centralization()}
    every = choices(records, index)
    for number, choice in enumerate(every):
        shift = 0.7 * ((number + 0.5) / len(every) - 0.5)
        found = [(line, m.mean) for line, r in enumerate(records) if (m := r.measure(choice))]
        axes.plot(
            [mean for _, mean in found],
            [line + shift for line, _ in found],
            linestyle="",
            label=choice.label if index == "dic" else "",
            **_look(choice),
        )
    known = [(line, printed[r.dataset]) for line, r in enumerate(records) if r.dataset in printed]
    axes.plot(
        [value for _, value in known],
        [line for line, _ in known],
        linestyle="",
        marker="D",
        markersize=6,
        color=style.ORANGE,
        label="published (not measured here)",
        zorder=3,
    )
    axes.set_xlabel(title)


def _set_log_axis(axes: "Axes") -> None:
    """Scale the axis of the dynamic index, which spans two decades, with plain numbers at few ticks."""
    axes.set_xscale("log")
    style.label_log_axis(axes.xaxis)
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in _TICKS if low <= tick <= high], minor=False)


def _look(choice: Choice) -> dict[str, Any]:
    """Return the mark of a choice: its form shows the unit, its filling the scaling, its colour the reading."""
    colour = COLOURS[choice.reading]
    look = {"marker": MARKERS[choice.unit], "color": colour, "markersize": 4.5}
    return (
        look
        | {
            "raw": {"markerfacecolor": colour},
            "unscaled": {"fillstyle": "top", "markerfacecoloralt": "white"},
            "standardised": {"markerfacecolor": "none"},
            "standardised over the recording": {"fillstyle": "left", "markerfacecoloralt": "white"},
        }[choice.scaling]
    )


def _label(record: CentralizationRecord) -> str:
    name = "Weather" if record.dataset == "weather" else short_name(record.dataset)
    return name + kinds.SUFFIXES[record.kind].replace(", ", "\n")
