"""Accuracy on the windows of every test subject, one strip of dots for each model."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.paper.names import OURS, short_name
from bench.render import style
from bench.render.figure import Figure
from bench.studies import kinds
from bench.studies.caption import plural, study_setting
from bench.studies.predicted import Predicted

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

NAME, POSITION = "accuracy-by-subject", 2

_VECTOR_DOTS = 2000
"""Above this number of dots they are stored as an image, since vector files would take megabytes."""

Strips = Mapping[str, NDArray[np.float64]]
"""Percent of each subject's windows classified right, averaged over seeds, (n_subjects,), by model."""


def strips(tested: Predicted) -> Strips:
    """Return the accuracies of the complete models."""
    return {
        model: 100 * np.mean([cell.votes.accuracy for cell in cells], axis=0)
        for model, cells in tested.cells.items()
        if tested.is_complete(model)
    }


def figure(tested: Predicted, name: str) -> Figure | None:
    """Return the figure of a dataset, or None where no model is complete or a single subject was tested."""
    data, study = strips(tested), tested.study
    if not data or max(map(len, data.values())) < 2:
        return None
    lowest = {model: values.min() for model, values in data.items()}
    first = OURS if OURS in data else next(iter(data))
    return Figure(
        name=name,
        title=f"{short_name(study.dataset)}: accuracy by test subject",
        caption=(
            f"One dot for each of {plural(len(data[first]), 'test subject')}: the percentage of its "
            "windows that is classified correctly, averaged over seeds; the upright line is the median subject. "
            f"{study_setting(study)}"
        ),
        alt=(
            f"Accuracy of every test subject on {study.label} for {len(data)} models. {first}: median "
            f"{np.median(data[first]):.0f}, lowest {lowest[first]:.0f} percent."
        ),
        draw=partial(draw, data),
        stamp=kinds.data_stamp(short_name(study.dataset), study.record.data),
    )


def draw(data: Strips) -> "matplotlib.figure.Figure":
    """Draw the strips under each other."""
    figure = style.new_figure(style.PAGE_IN, 0.9 + 0.26 * len(data))
    axes = figure.subplots()
    draw_strips(data, axes)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def draw_strips(data: Strips, axes: "Axes") -> None:
    """Draw dots with a fixed jitter, and the median of each strip."""
    n_dots = sum(map(len, data.values()))
    alpha = min(
        0.6, max(0.15, 60 / max(map(len, data.values())))
    )  # transparent dots show many subjects as density
    for row, (model, values) in enumerate(data.items()):
        jitter = np.random.default_rng(0).uniform(-0.25, 0.25, size=len(values))
        colour = style.OURS if model == OURS else style.FAINT
        axes.plot(
            values, row + jitter, "o", color=colour, markersize=2.2, alpha=alpha, markeredgewidth=0,
            rasterized=n_dots > _VECTOR_DOTS, zorder=3,  # no subject is hidden by the median
            label="one test subject" if row == 0 else "_",
        )  # fmt: skip
        axes.vlines(
            np.median(values),
            row - 0.36,
            row + 0.36,
            color=style.INK,
            linewidth=1.4,
            label="median subject" if row == 0 else "_",
        )
    axes.set_yticks(range(len(data)), list(data))
    axes.set_ylim(len(data) - 0.4, -0.6)
    axes.set_xlim(-2, 102)
    axes.set_xlabel("correct windows of a subject (%)")
    axes.grid(axis="y", visible=False)
