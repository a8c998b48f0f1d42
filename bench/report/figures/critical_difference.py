"""Critical-difference diagram: average ranks on a line, and bars over models that do not differ significantly.

Source: Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 2006. N, CD and alpha stand
in the figure.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bench.paper.names import OURS
from bench.render import style
from bench.render.figure import Figure
from bench.report.tables.significance import ALPHA, METRIC_TITLES
from bench.stats.statistics import average_ranks, indistinct_groups, nemenyi_critical_difference
from bench.studies import kinds
from bench.studies.caption import suite_setting
from bench.studies.model_blocks import together
from bench.studies.ranks import Scores, complete_scores
from bench.studies.suite import Suite

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Diagram:
    """Models in the order of their average ranks, and the groups (positions in that order) within one CD."""

    models: tuple[str, ...]
    ranks: NDArray[np.float64]
    n_datasets: int
    critical_difference: float
    groups: tuple[tuple[int, int], ...]
    scores: Scores


def diagram(suite: Suite, metric: str) -> Diagram | None:
    """Return the data of the diagram; None with fewer than three models or two datasets."""
    scores = complete_scores(suite.studies, suite.models, (metric,))
    n_datasets, n_models = scores.values.shape
    if n_models < 3 or n_datasets < 2:
        return None
    ranks = average_ranks(scores.values)
    order = np.argsort(ranks, kind="stable")
    critical = nemenyi_critical_difference(n_models, n_datasets, ALPHA)
    groups = indistinct_groups(ranks[order], critical)
    return Diagram(
        tuple(scores.models[number] for number in order),
        ranks[order],
        n_datasets,
        critical,
        tuple((group[0], group[-1]) for group in groups),
        scores,
    )


def critical_difference_figure(suite: Suite, metric: str, name: str) -> Figure | None:
    """Return the diagram of a suite, or None where there are too few models or datasets."""
    data = diagram(suite, metric)
    if data is None:
        return None
    scores = data.scores
    without = f"Ranked without {scores.left_out}. " if scores.left_out else ""
    everyone = data.groups == ((0, len(data.models) - 1),)
    verdict = "No two models differ by more than the critical difference." if everyone else ""
    return Figure(
        name=name,
        title=f"Critical difference by {METRIC_TITLES[metric]}",
        caption=(
            f"Average ranks over N = {data.n_datasets} datasets, 1 is best; models under one bar are within the "
            f"critical difference CD = {data.critical_difference:.2f} of Nemenyi's test at alpha = {ALPHA:g}. "
            f"{verdict} With so few datasets only very large differences could show. "
            f"{together(data.models, 'Ranked')}{without}{suite_setting(suite, scores.studies)}"
        ),
        alt=(
            f"Critical-difference diagram of {len(data.models)} models over {data.n_datasets} datasets, critical "
            f"difference {data.critical_difference:.2f}. Average ranks: "
            + ", ".join(f"{m} {r:.2f}" for m, r in zip(data.models, data.ranks, strict=True))
            + "."
        ),
        draw=partial(draw, data),
        stamp=kinds.STAMPS[kinds.least_real(study.kind for study in scores.studies)],
    )


def draw(data: Diagram) -> "matplotlib.figure.Figure":
    """Draw the diagram at page width."""
    n_left = -(-len(data.models) // 2)
    figure = style.new_figure(style.PAGE_IN, 0.9 + 0.12 * len(data.groups) + 0.17 * n_left)
    draw_axes(data, figure.subplots())
    return figure


def draw_axes(data: Diagram, axes: "Axes") -> None:
    """Draw the scale, the models on both sides of it, the bars and the length of CD."""
    n_models, n_groups = len(data.models), len(data.groups)
    n_left = -(-n_models // 2)
    axes.set_axis_off()
    margin = 0.26 * (n_models - 1)
    axes.set_xlim(1 - margin, n_models + margin)
    first_label = 0.5 + 0.45 * n_groups
    axes.set_ylim(first_label + 0.65 * n_left, -1.9)
    axes.plot([1, n_models], [0, 0], color=style.INK, linewidth=0.8)
    for rank in range(1, n_models + 1):
        axes.plot([rank, rank], [-0.18, 0], color=style.INK, linewidth=0.8)
        axes.text(rank, -0.3, str(rank), ha="center", va="bottom", fontsize=6.5)
    for position, (model, rank) in enumerate(zip(data.models, data.ranks, strict=True)):
        left = position < n_left
        line = first_label + 0.65 * (position if left else n_models - 1 - position)
        side = 1 - 0.02 * margin if left else n_models + 0.02 * margin
        colour = style.OURS if model == OURS else style.INK
        axes.plot([rank, rank, side], [0, line, line], color=colour, linewidth=0.7)
        text = f"{model}  {rank:.2f}" if left else f"{rank:.2f}  {model}"
        axes.text(
            side + (-0.03 if left else 0.03) * margin, line, text, ha="right" if left else "left", va="center",
            color=colour, fontsize=6.5, weight="bold" if model == OURS else "normal",
        )  # fmt: skip
    for number, (start, end) in enumerate(data.groups):
        height = 0.35 + 0.45 * number
        ends = [data.ranks[start] - 0.05, data.ranks[end] + 0.05]
        axes.plot(ends, [height] * 2, color=style.INK, linewidth=2.2, solid_capstyle="round")
    axes.plot([1, 1 + data.critical_difference], [-1.15] * 2, color=style.INK, linewidth=1.2, marker="|")
    axes.text(
        1, -1.35, f"CD = {data.critical_difference:.2f}   (N = {data.n_datasets}, alpha = {ALPHA:g})",
        ha="left", va="bottom", fontsize=6.5,
    )  # fmt: skip
