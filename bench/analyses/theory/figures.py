"""How the checks of the propositions are drawn: a panel per quantity, or seeds as dots by read-out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.analyses.theory.record import Check, Curve
from bench.render import style

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_LOOKS = (
    (style.BLUE, "-", "o"),
    (style.ORANGE, "--", "^"),
    (style.GREEN, "-.", "s"),
    (style.PURPLE, ":", "D"),
)
_FEW = 20
"""Curves with at most this many points show each point as a mark."""


def draw(check: Check) -> "matplotlib.figure.Figure":
    """Draw a check's curves."""
    if check.number.startswith("5"):
        return draw_dots(check.curves)
    panels = list(dict.fromkeys(curve.panel for curve in check.curves))
    width = style.PAGE_IN if len(panels) > 1 else style.COLUMN_IN
    figure = style.new_figure(width, 2.6)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for panel, axis in zip(panels, axes, strict=True):
        draw_panel([curve for curve in check.curves if curve.panel == panel], axis)
        if check.number == "3a":
            _log_durations(axis)
        axis.set_xlabel(check.x_label)
        axis.set_title(panel)
    return figure


def draw_panel(curves: Sequence[Curve], axes: "Axes") -> None:
    """Draw lines with their bands, the legend below."""
    if all(float(x).is_integer() for curve in curves for x in curve.x):
        axes.locator_params(axis="x", integer=True)  # dimensions and lengths are whole numbers
    for number, curve in enumerate(curves):
        colour, line, marker = _LOOKS[number % len(_LOOKS)]
        shown = marker if len(curve.x) <= _FEW else ""
        axes.plot(curve.x, curve.y, line, color=colour, marker=shown, markersize=2.5, label=curve.label)
        if curve.low:
            axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2 if len(curves) > 3 else 1)


def draw_dots(curves: Sequence[Curve]) -> "matplotlib.figure.Figure":
    """Draw every seed's accuracy as a dot by read-out, and the bound as a line."""
    figure = style.new_figure(style.PAGE_IN, 1.7)
    axes = figure.subplots()
    names: dict[float, str] = {}
    labelled: set[str] = set()
    for curve in curves:
        core, _, reading = curve.label.partition(": ")
        if not reading:
            axes.axvline(curve.y[0], color=style.INK, linestyle=":", label=f"{core}: {curve.y[0]:.2f}")
            continue
        names[curve.x[0]] = reading
        look = (style.OURS, "o", 0.12) if core == "bidirectional" else (style.RIVAL, "^", -0.12)
        label = "_" + core if core in labelled else core
        labelled.add(core)
        axes.plot(curve.y, [x + look[2] for x in curve.x], look[1], color=look[0], label=label)
    axes.set_yticks(sorted(names), [names[x] for x in sorted(names)])
    axes.set_ylim(max(names) + 0.5, -0.5)
    axes.set_xlim(0.5, 1.0)
    axes.set_xlabel("accuracy")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.35, -0.3), ncols=3)
    return figure


def _log_durations(axes: "Axes") -> None:
    from matplotlib.ticker import NullLocator

    durations = (5, 7, 10, 14, 20, 25)
    axes.set_xscale("log")
    axes.set_xticks(durations, list(map(str, durations)))
    axes.xaxis.set_minor_locator(NullLocator())
