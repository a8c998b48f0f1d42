"""Confusion matrices of windows and of subjects' majority votes, as shares of each true class."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.paper.names import short_name
from bench.render import style
from bench.render.figure import Figure
from bench.studies import kinds
from bench.studies.caption import study_setting
from bench.studies.models_in_detail import models_in_detail
from bench.studies.predicted import Predicted
from bench.studies.subject_scores import confusion

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

NAME, POSITION = "confusion", 3


@dataclass(frozen=True)
class Matrix:
    """One panel: counts (n_classes, n_classes) summed over seeds, rows true."""

    title: str
    counts: NDArray[np.integer]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Each row as shares of the true class; zeros if the class is absent."""
        return self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)


def matrices(tested: Predicted) -> list[Matrix]:
    """Return the panels for `models_in_detail`: windows and, if each subject has one class, votes."""
    label = tested.grouping.label if tested.grouping is not None else None
    n_classes = len(tested.class_names)
    found = []
    for model in models_in_detail(tested):
        cells = tested.cells[model]
        found.append(Matrix(f"{model}: windows", np.sum([cell.windows for cell in cells], axis=0)))
        if label is not None:
            votes = [confusion(label, cell.votes.majority, n_classes) for cell in cells]
            found.append(Matrix(f"{model}: subjects, majority vote", np.sum(votes, axis=0)))
    return found


def figure(tested: Predicted, name: str) -> Figure | None:
    """Return the confusion matrices of a dataset, or None where no model is complete."""
    data, study = matrices(tested), tested.study
    if not data:
        return None
    least = data[0].shares.diagonal()
    return Figure(
        name=name,
        title=f"{short_name(study.dataset)}: confusion matrices",
        caption=(
            f"Percent of each true class (rows) by predicted class; counts summed over seeds in brackets. MedMamba and "
            f"its best rival by macro F1, or the two best models where MedMamba is missing. {study_setting(study)}"
        ),
        alt=(
            f"Confusion matrices on {study.label}. {data[0].title}: percent correct per true class "
            + ", ".join(
                f"{name} {100 * part:.0f}" for name, part in zip(tested.class_names, least, strict=True)
            )
            + "."
        ),
        draw=partial(draw, data, tested.class_names),
        stamp=kinds.data_stamp(short_name(study.dataset), study.record.data),
    )


def draw(data: Sequence[Matrix], class_names: Sequence[str]) -> "matplotlib.figure.Figure":
    """Draw the panels, two in a row."""
    n_columns = min(2, len(data))
    n_rows = -(-len(data) // n_columns)
    figure = style.new_figure(style.PAGE_IN, n_rows * (1.5 + 0.32 * len(class_names)))
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for matrix, axis in zip(data, axes, strict=True):
        draw_panel(matrix, class_names, axis)
    return figure


def draw_panel(matrix: Matrix, class_names: Sequence[str], axes: "Axes") -> None:
    """Draw one matrix with its numbers."""
    shares = matrix.shares
    axes.pcolormesh(shares, cmap="Blues", vmin=0, vmax=1, edgecolor="white", linewidth=0.5)
    for row, column in np.ndindex(*shares.shape):
        axes.text(
            column + 0.5, row + 0.5, f"{100 * shares[row, column]:.0f}\n({matrix.counts[row, column]:,})",
            ha="center", va="center", fontsize=6, color="#ffffff" if shares[row, column] > 0.55 else "#000000",
        )  # fmt: skip
    ticks = np.arange(len(class_names)) + 0.5
    labels = [textwrap.fill(name, 14) for name in class_names]
    axes.set_xticks(
        ticks, labels, rotation=0 if max(map(len, class_names)) < 6 or len(class_names) < 4 else 35
    )
    axes.set_yticks(ticks, labels)
    axes.invert_yaxis()
    axes.set_title(matrix.title)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    axes.grid(visible=False)
