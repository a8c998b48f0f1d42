"""Training curves of one dataset: a small panel per model with losses and validation F1 over the epochs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.reports import style
from bench.reports.caption import numbers
from bench.reports.figure import Figure
from bench.reports.suite import Study, short_name
from bench.results.record import Record

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_LINES = {
    "train_loss": ("training loss", style.INK, "-"),
    "val_loss": ("validation loss", style.ORANGE, "--"),
    "val_f1": ("validation F1", style.BLUE, "-."),
}
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
    for field in _LINES:
        values = np.full((len(histories), n_epochs), np.nan)
        for row, history in enumerate(histories):
            values[row, : len(history)] = [getattr(epoch, field) for epoch in history]
        result[field] = Curve(
            np.nanmean(values, axis=0), np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        )
    return result


def curves_figure(study: Study, name: str) -> Figure | None:
    """Return the training curves of a dataset, or None where no record has a history."""
    data = {model: found for model, group in study.groups.items() if (found := curves(group.records))}
    if not data:
        return None
    return Figure(
        name=name,
        title=f"{short_name(study.dataset)}: training curves",
        caption=(
            f"Loss in nats and validation macro F1 as a fraction of one, by epoch, on {study.label}: mean over seeds "
            f"{numbers(study.seeds)} with the range between the lowest and the highest seed. Seeds that stopped early "
            "leave the mean where they end."
        ),
        alt=(
            f"Training and validation loss and validation F1 over the epochs on {study.label}, one panel for each of "
            f"{', '.join(data)}."
        ),
        draw=lambda: draw(data),
    )


def draw(data: Mapping[str, Curves]) -> "matplotlib.figure.Figure":
    """Draw one panel for each model."""
    from matplotlib.ticker import MaxNLocator

    n_rows = ceil(len(data) / _COLUMNS)
    n_columns = min(_COLUMNS, len(data))
    height = 0.6 + 1.35 * n_rows
    figure = style.new_figure(style.PAGE_IN, height)
    # Equal panels need no search for a layout, which takes as long as drawing them.
    figure.set_layout_engine(None)
    figure.subplots_adjust(
        left=0.05, right=0.99, bottom=0.6 / height, top=1 - 0.2 / height, wspace=0.08, hspace=0.28
    )
    axes = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    for one in axes[len(data) :]:
        one.remove()
    for (model, found), one in zip(data.items(), axes, strict=False):
        draw_panel(found, one)
        one.set_title(model, y=1.0)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=len(_LINES))
    for one in axes[max(0, len(data) - n_columns) : len(data)]:
        one.set_xlabel("epoch")
    axes[0].xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    return figure


def draw_panel(found: Curves, axes: "Axes") -> None:
    """Draw the curves of one model."""
    for field, (label, colour, line) in _LINES.items():
        curve = found[field]
        epochs = np.arange(1, len(curve.mean) + 1)
        axes.fill_between(epochs, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(epochs, curve.mean, color=colour, linestyle=line, label=label)
