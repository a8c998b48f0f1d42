"""The report on scaling: fitted exponents, and operations, speed and memory over the length of the window."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.analyses.contract import Shown
from bench.analyses.scaling.record import (
    FIT_FROM,
    Exponent,
    Quantity,
    ScalingCurve,
    ScalingRecord,
    fit_exponent,
)
from bench.paper.names import OURS, in_paper_order, short_name
from bench.render import style
from bench.render.figure import Figure
from bench.render.table import Block, Cell, Footnotes, Row, Table

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

COLUMNS: tuple[tuple[Quantity, str], ...] = (
    ("operations", "operations"),
    ("seconds", "time"),
    ("memory", "memory"),
)
_COLOURS = (style.ORANGE, style.GREEN, style.PURPLE, style.FAINT, style.INK)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", ":")


def report(_out: Path, records: Sequence[ScalingRecord]) -> Shown:
    """Return a table and a figure for each record, the oldest first; names that would clash are numbered."""
    records = sorted(records, key=lambda record: record.session)
    names = [f"scaling-{record.dataset}-{record.environment.device}" for record in records]
    numbered = [
        name if names.count(name) == 1 else f"{name}-{names[: position + 1].count(name)}"
        for position, name in enumerate(names)
    ]
    named = list(zip(records, numbered, strict=True))
    return Shown(
        [scaling_table(record, name) for record, name in named],
        [scaling_figure(record, name) for record, name in named],
    )


def scaling_table(record: ScalingRecord, name: str) -> Table:
    """Return the exponents of every model, with the longest window that was run."""
    notes = Footnotes()
    curves = {curve.model: curve for curve in record.curves}
    rows = tuple(_row(curves[model], notes) for model in in_paper_order(curves))
    return Table(
        name=name,
        title="How cost grows with the length of the window: fitted exponents",
        columns=(*(heading for _, heading in COLUMNS), "longest window run"),
        blocks=(Block("", rows),),
        caption=_caption(record),
        footnotes=(*notes.texts, *record.warnings),
        unit="exponent",
    )


def _row(curve: ScalingCurve, notes: Footnotes) -> Row:
    cells = [_exponent_cell(fit_exponent(curve, quantity)) for quantity, _ in COLUMNS]
    stops = [point.message for point in curve.points if point.message]
    note = notes.number(f"{curve.model}: {stops[0]}") if stops else None
    longest = max((point.n_times for point in curve.points if point.seconds), default=None)
    return Row(curve.model, (*cells, Cell(longest, text=str(longest) if longest else None, note=note)))


def _exponent_cell(exponent: Exponent | None) -> Cell:
    return Cell() if exponent is None else Cell(exponent.value, exponent.error)


def _caption(record: ScalingRecord) -> str:
    return (
        "Slope of the cost over the length of the window, both as logarithms, by least squares on lengths from "
        f"{FIT_FROM}, with its standard error (1 is linear, 2 quadratic). {_conditions(record)} "
        "Operations count attention in its plain form; time and memory are of fused attention where torch has it, "
        "whose memory grows linearly. Memory includes the weights."
    )


def _conditions(record: ScalingRecord) -> str:
    place = record.environment
    threads = f"{place.threads} thread{'s' if place.threads > 1 else ''}"
    scan = f"scan {place.scan_backend}, " if place.scan_backend else ""
    return (
        f"Inference, {record.n_channels} channels, settings of {short_name(record.dataset)}, batch {record.batch}, "
        f"{place.device_name} ({place.device}), {threads}, {place.precision}, {scan}"
        f"torch {place.versions.get('torch', 'unknown')}; at most {record.limit_s:g} s a model."
    )


def scaling_figure(record: ScalingRecord, name: str) -> Figure:
    """Return the figure of a record."""
    ours = next((curve for curve in record.curves if curve.model == OURS), None)
    exponent = fit_exponent(ours, "operations") if ours else None
    sentence = f" MedMamba's operations grow with exponent {exponent.value:.2f}." if exponent else ""
    return Figure(
        name=name,
        title="Cost over the length of the window",
        caption=(
            f"Cost over the length of the window, all axes logarithmic. {_conditions(record)} A line that ends early: "
            "the model was stopped at its limit of time or memory, see the table."
        ),
        alt=(
            f"Three log-log panels over window length for {len(record.curves)} models: operations, speed, "
            f"memory.{sentence}"
        ),
        draw=partial(draw, record.curves, record.batch),
    )


def draw(curves: Sequence[ScalingCurve], batch: int) -> "matplotlib.figure.Figure":
    """Draw operations, windows per second and memory side by side."""
    figure = style.new_figure(style.PAGE_IN, 3.0)
    axes = figure.subplots(1, 3)
    by_name = {curve.model: curve for curve in curves}
    for number, name in enumerate(in_paper_order(by_name)):
        look = line_look(number, name)
        for (quantity, _), axis in zip(COLUMNS, axes, strict=True):
            points = [(p.n_times, value) for p in by_name[name].points if (value := p.value(quantity))]
            shown = [_shown(quantity, value, batch) for _, value in points]
            axis.plot([length for length, _ in points], shown, label=name, **look)
    titles = ("GFLOP per window", f"windows per second, batch {batch}", "peak memory, MiB")
    for axis, title in zip(axes, titles, strict=True):
        _set_axes(axis, title, sorted({p.n_times for curve in curves for p in curve.points}))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    return figure


def line_look(number: int, model: str) -> dict[str, object]:
    """Return colour, marker and line: every model differs in more than colour; ours is thick."""
    if model == OURS:
        return {"color": style.OURS, "linewidth": 2.0, "marker": "*", "markersize": 6, "zorder": 3}
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _LINES[number % len(_LINES)],
        "linewidth": 0.9,
        "markersize": 3,
    }


def _shown(quantity: Quantity, value: float, batch: int) -> float:
    return {"operations": value / 1e9, "seconds": batch / value, "memory": value / 2**20}[quantity]


def _set_axes(axes: "Axes", title: str, lengths: Sequence[int]) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    style.label_log_axis(axes.yaxis)
    axes.set_xticks(lengths, [str(length) for length in lengths], rotation=45)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("steps of a window")
    axes.set_title(title)
