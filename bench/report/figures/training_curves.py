"""Training curves of one dataset: a small panel per model with losses and validation F1 over the epochs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.paper.names import short_name
from bench.render import style
from bench.render.figure import Figure
from bench.results.record import Record
from bench.studies import kinds
from bench.studies.caption import numbers, study_setting
from bench.studies.predicted import Predicted
from bench.studies.suite import Study

NAME, POSITION = "curves", 5

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

_LOSSES = {
    "train_loss": ("training loss", style.INK, "-"),
    "val_loss": ("validation loss", style.ORANGE, "--"),
}
_SCORES = {"val_f1": ("validation F1 (right axis)", style.BLUE, "-.")}
_COLUMNS = 4


@dataclass(frozen=True)
class Curve:
    """One quantity over epochs: mean, lowest and highest over the seeds that reached the epoch, each (n_epochs,)."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


Curves = Mapping[str, Curve]


def curves(records: Sequence[Record]) -> Curves:
    """Return the curves of one model over its seeds; empty where none has a history."""
    histories = [record.history for record in records if record.history]
    if not histories:
        return {}
    n_epochs = max(map(len, histories))
    result = {}
    for field in (*_LOSSES, *_SCORES):
        values = np.full((len(histories), n_epochs), np.nan)
        for row, history in enumerate(histories):
            values[row, : len(history)] = [getattr(epoch, field) for epoch in history]
        result[field] = Curve(
            np.nanmean(values, axis=0), np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        )
    return result


def figure(tested: Predicted, name: str) -> Figure | None:
    """Return the training curves of a dataset, or None where no record has a history."""
    study = tested.study
    data = {model: found for model, group in study.groups.items() if (found := curves(group.records))}
    if not data:
        return None
    titles = {model: _title(study, model) for model in data}
    return Figure(
        name=name,
        title=f"{short_name(study.dataset)}: training curves",
        caption=(
            f"Loss in nats (left) and validation macro F1 in percent (right) by epoch, on {study.label}. Lines: mean "
            "over the seeds of the study, or over the seeds that a panel names if its model lacks some; bands: from "
            "the lowest to the highest seed. "
            f"A seed that stopped early counts up to its last epoch. {study_setting(study)}"
        ),
        alt=(
            f"Training and validation loss and validation F1 over the epochs on {study.label}, one panel for each of "
            f"{', '.join(titles.values())}."
        ),
        draw=partial(draw, {titles[model]: found for model, found in data.items()}),
        stamp=kinds.data_stamp(short_name(study.dataset), study.record.data),
    )


def _title(study: Study, model: str) -> str:
    """Return the model's name, with its seeds if they differ from the study's."""
    seeds = [record.cell.seed for record in study.groups[model].records if record.history]
    if tuple(seeds) == study.seeds:
        return model
    return f"{model} (seed{'s' if len(seeds) > 1 else ''} {numbers(seeds)} only)"


def draw(data: Mapping[str, Curves]) -> "matplotlib.figure.Figure":
    """Draw one panel for each model, under its title."""
    from matplotlib.patches import Patch

    n_rows = ceil(len(data) / _COLUMNS)
    n_columns = min(_COLUMNS, len(data))
    height = 0.6 + 1.35 * n_rows
    figure = style.new_figure(style.PAGE_IN, height)
    # Equal panels need no layout engine, which takes as long as drawing them.
    figure.set_layout_engine(None)
    figure.subplots_adjust(
        left=0.08, right=0.94, bottom=0.6 / height, top=1 - 0.2 / height, wspace=0.08, hspace=0.28
    )
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axis in axes[len(data) :]:
        axis.remove()
    scale = _scale(data)
    for number, ((title, found), axis) in enumerate(zip(data.items(), axes, strict=False)):
        is_lowest, is_first = number >= len(data) - n_columns, number % n_columns == 0
        _draw_scale(scale, axis, with_epochs=is_lowest, with_losses=is_first)
        draw_panel(found, axis)
        axis.set_title(title, y=1.0)
        if number % n_columns == n_columns - 1 or number == len(data) - 1:
            _draw_scale_of_scores(axis)
    handles = axes[0].get_legend_handles_labels()[0]
    handles.append(Patch(color=style.INK, alpha=0.15, linewidth=0, label="lowest to highest seed"))
    figure.legend(handles=handles, loc="lower center", ncols=len(handles))
    return figure


@dataclass(frozen=True)
class _Scale:
    """The range of epochs and of losses that all panels show, with the lines of their grid."""

    x_limits: tuple[float, float]
    y_limits: tuple[float, float]
    epochs: NDArray[np.float64]
    losses: NDArray[np.float64]


def _scale(data: Mapping[str, Curves]) -> _Scale:
    """Return the scale of all models, with a margin."""
    from matplotlib.ticker import MaxNLocator

    losses = [found[field] for found in data.values() for field in _LOSSES]
    finite = np.concatenate(
        [values[np.isfinite(values)] for loss in losses for values in (loss.low, loss.high)]
    )
    lowest, highest = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    n_epochs = max(len(loss.mean) for loss in losses)
    x_margin, y_margin = 0.05 * max(n_epochs - 1, 1), 0.05 * (highest - lowest) or 0.5
    x_limits, y_limits = (1 - x_margin, n_epochs + x_margin), (lowest - y_margin, highest + y_margin)
    x_ticks, y_ticks = (
        MaxNLocator(nbins=4, integer=True).tick_values(*x_limits),
        MaxNLocator(nbins=5).tick_values(*y_limits),
    )
    return _Scale(x_limits, y_limits, _within(x_ticks, x_limits), _within(y_ticks, y_limits))


def _within(locations: Sequence[float], limits: tuple[float, float]) -> NDArray[np.float64]:
    ticks = np.asarray(locations)
    return ticks[(ticks >= limits[0]) & (ticks <= limits[1])]


def _draw_scale(scale: _Scale, axes: "Axes", *, with_epochs: bool, with_losses: bool) -> None:
    """Draw the grid of a panel, and ticks where they are labelled.

    Ticks take longest to draw, and axes with shared scales check all others for every added line.
    """
    axes.set(xlim=scale.x_limits, ylim=scale.y_limits)
    axes.set_xticks(scale.epochs if with_epochs else [])
    axes.set_yticks(scale.losses if with_losses else [])
    axes.grid(visible=False)
    look = {"colors": style.GRID, "linewidth": 0.5, "zorder": 0.5}
    axes.vlines(scale.epochs, *scale.y_limits, **look)
    axes.hlines(scale.losses, *scale.x_limits, **look)
    axes.set_xlabel("epoch" if with_epochs else "")
    axes.set_ylabel("loss (nats)" if with_losses else "")


def draw_panel(found: Curves, axes: "Axes") -> None:
    """Draw the curves of one model: losses by the axes' scale, F1 from their lower edge, 0, to the upper, 100 %."""
    _draw_lines(found, _LOSSES, axes, axes.transData)
    # A second pair of axes in every panel would take longer to draw than all lines.
    _draw_lines(found, _SCORES, axes, axes.get_xaxis_transform())


def _draw_lines(
    found: Curves, lines: Mapping[str, tuple[str, str, str]], axes: "Axes", scale: "Transform"
) -> None:
    for field, (label, colour, line) in lines.items():
        curve = found[field]
        epochs = np.arange(1, len(curve.mean) + 1)
        axes.fill_between(
            epochs, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0, transform=scale
        )
        axes.plot(epochs, curve.mean, color=colour, linestyle=line, label=label, transform=scale)


def _draw_scale_of_scores(axes: "Axes") -> None:
    scale = axes.twinx()
    scale.grid(visible=False)
    scale.spines["right"].set_visible(True)
    scale.set_ylim(0, 100)
    scale.set_ylabel("F1 (%)")
