"""The efficiency figure: windows per second, macro F1, and parameters as the area of bubbles.

Source of the form: MedMamba paper, section on efficiency.
"""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bench.analyses.efficiency.panels import PAPER, Panel
from bench.paper import published
from bench.paper.names import OURS, short_name
from bench.render import style
from bench.render.figure import Figure
from bench.render.labels import label_points
from bench.results.record import Record
from bench.studies import kinds
from bench.studies.aggregate import compare
from bench.studies.suite import Study, make_suites

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

HEIGHT_IN = 3.5
AXES = (0.145, 0.30, 0.835, 0.685)
"""Left, bottom, width and height of the axes, as fractions of the figure."""

LABEL_PT = style.SMALL_PT

LARGEST_AREA_PT2 = 420.0
"""Area of the largest bubble's bounding square in square points; the areas of all bubbles are proportional."""


@dataclass(frozen=True)
class Score:
    """A model's macro F1 in percent; ``source`` is ``published`` or describes the records, ``kind`` their data."""

    f1: float
    source: str
    kind: str = "whole"

    @property
    def is_published(self) -> bool:
        """Whether the number is the paper's."""
        return self.source == "published"


@dataclass(frozen=True)
class Bubble:
    """One model of the figure."""

    model: str
    windows_per_s: float
    score: Score
    n_parameters: int


def study_for(panel: Panel, cells: Sequence[Record]) -> Study | None:
    """Return the study of a panel's dataset on the most real data, with the most models; None where there is none."""
    suites = make_suites(compare(cells))
    studies = [study for suite in suites if (study := suite.study(panel.key.task.dataset)) is not None]
    return min(
        studies,
        key=lambda study: (kinds.ORDER.index(study.kind), -len(study.groups)),
        default=None,
    )


def scores_for(panel: Panel, cells: Sequence[Record]) -> dict[str, Score]:
    """Return the F1 of each model of a panel: from the records, else as published.

    Published scores fill gaps beside records of the whole dataset only, and beside models of the paper's preset only;
    excerpts, simulations and other sizes stand alone.
    """
    dataset, study = panel.key.task.dataset, study_for(panel, cells)
    scores: dict[str, Score] = {}
    if study is not None:
        found = {
            name: group.score("f1")
            for name, group in study.groups.items()
            if name in panel.records and study.is_complete(name)
        }
        warning = "" if study.kind == "whole" else f"{study.kind.upper()} data, "
        source = f"{warning}recipe {study.record.cell.recipe}"
        scores = {name: Score(100 * score.mean, source, study.kind) for name, score in found.items() if score}
        if scores and study.kind != "whole":
            return scores
    if panel.key.preset != PAPER:
        return scores
    for name in panel.records:
        quoted = published.lookup(dataset, name, "f1")
        if name not in scores and quoted is not None:
            scores[name] = Score(quoted.mean, "published")
    return scores


def bubbles(panel: Panel, scores: Mapping[str, Score]) -> list[Bubble]:
    """Return the models that have both a speed and a score, MedMamba first, then fast ones."""
    found = [
        Bubble(name, rate, score, panel.records[name].parameters.forward)
        for name, score in scores.items()
        if (rate := panel.throughput(name)) is not None
    ]
    return sorted(found, key=lambda bubble: (bubble.model != OURS, -bubble.windows_per_s))


def pareto_front(points: Iterable[Bubble]) -> list[Bubble]:
    """Return the models that none beats in both speed and score, slow ones first."""
    front: list[Bubble] = []
    for point in sorted(points, key=lambda point: (-point.windows_per_s, -point.score.f1)):
        if not front or point.score.f1 > front[-1].score.f1:
            front.append(point)
    return front[::-1]


def front_of(found: Iterable[Bubble]) -> list[Bubble]:
    """Return the Pareto front of measured scores, or of published ones if none is measured; never of both."""
    found = list(found)
    return pareto_front([bubble for bubble in found if not bubble.score.is_published] or found)


def caption_of(panel: Panel, found: Iterable[Bubble]) -> str:
    """Return the caption: device, batch, widths, and where the scores come from."""
    found = list(found)
    measured = [bubble for bubble in found if not bubble.score.is_published]
    sources = sorted({bubble.score.source for bubble in measured})
    parts = [
        f"Speed, score and size on {short_name(panel.key.task.dataset)}.",
        f"Windows per second in inference at batch {panel.throughput_batch}: {panel.description}.",
        *_smaller_batches(panel, found),
    ]
    if sources:
        parts.append(f"Filled: test macro F1 of our records ({'; '.join(sources)}).")
    if len(measured) < len(found):
        parts.append("Hollow: macro F1 as PUBLISHED in the MedMamba paper, not measured here.")
    if panel.key.width != "script":
        parts.append("The scores belong to models of their scripts' widths.")
    parts.append("Bubble area is proportional to the parameters in the forward pass.")
    of, front = "measured" if measured else "published", front_of(found)
    if len(front) > 1:
        parts.append(f"Dashed: Pareto front of the models with a {of} F1.")
    elif front:
        parts.append(f"No model with a {of} F1 beats {front[0].model} in speed or in F1.")
    return " ".join(parts)


def _smaller_batches(panel: Panel, found: Iterable[Bubble]) -> list[str]:
    """Name the models that ran at another batch than the axis label's."""
    conditions = {bubble.model: panel.compared(bubble.model) for bubble in found}
    smaller = {
        name: condition.batch
        for name, condition in conditions.items()
        if condition is not None and condition.batch != condition.batch_asked
    }
    if not smaller:
        return []
    texts = ", ".join(f"{name} at {batch}" for name, batch in smaller.items())
    return [f"The largest batch that fits in memory: {texts}."]


def efficiency_figure(panel: Panel, cells: Sequence[Record], name: str) -> Figure | None:
    """Return the figure of a panel, or None where no model has both a speed and a score."""
    found = bubbles(panel, scores_for(panel, cells))
    if not found:
        return None
    front = ", ".join(bubble.model for bubble in front_of(found))
    study = study_for(panel, cells)
    gaps = [study.gap(name) for name in study.groups if name in panel.records] if study else []
    left_out = "; ".join(gap for gap in gaps if gap)
    without = f" Not averaged, seeds being missing: {left_out}." if left_out else ""
    return Figure(
        name=name,
        title=f"{short_name(panel.key.task.dataset)}: speed, score and size",
        caption=f"{caption_of(panel, found)}{without}",
        alt=(
            f"Bubbles of {len(found)} models: windows per second against macro F1, area by parameters. Beaten by none "
            f"in both, from slow to fast: {front}."
        ),
        draw=partial(draw, panel, found),
        stamp=kinds.stamp(
            short_name(panel.key.task.dataset), kinds.least_real(bubble.score.kind for bubble in found)
        ),
    )


def draw(panel: Panel, found: Sequence[Bubble]) -> "matplotlib.figure.Figure":
    """Draw the bubbles, with a label beside each."""
    figure = style.new_figure(style.COLUMN_IN, HEIGHT_IN)
    figure.set_layout_engine("none")  # labels are placed in the axes as they are now
    axes = figure.add_axes(AXES)
    scale = LARGEST_AREA_PT2 / max(bubble.n_parameters for bubble in found)
    front = front_of(found)
    _set_axes(axes, panel, found)
    _draw_front(axes, front, scale)
    for bubble in found:
        area = bubble.n_parameters * scale
        zorder = 2 - 0.5 * area / LARGEST_AREA_PT2  # large ones lie below, as they would hide small ones
        look = bubble_look(bubble.model, bubble.score)
        axes.scatter(bubble.windows_per_s, bubble.score.f1, s=area, zorder=zorder, **look)
    texts = [
        axes.text(
            0, 0, bubble.model, fontsize=LABEL_PT, fontweight="bold" if bubble.model == OURS else "normal"
        )
        for bubble in found
    ]
    points = [(bubble.windows_per_s, bubble.score.f1) for bubble in found]
    ends = [(bubble.windows_per_s, bubble.score.f1) for bubble in front]
    label_points(
        axes, points, [radius_pt(bubble, scale) for bubble in found], texts, avoid=list(pairwise(ends))
    )
    _draw_legend(axes, found, scale)
    return figure


def _set_axes(axes: "Axes", panel: Panel, found: Sequence[Bubble]) -> None:
    """Set limits with room for bubbles and labels, and name device and batch."""
    rates, scores = [bubble.windows_per_s for bubble in found], [bubble.score.f1 for bubble in found]
    span = max(math.log10(max(rates) / min(rates)), 0.3)
    axes.set_xscale("log")
    axes.set_xlim(min(rates) / 10 ** (0.14 * span), max(rates) * 10 ** (0.14 * span))
    height = max(max(scores) - min(scores), 1.0)
    axes.set_ylim(min(scores) - 0.15 * height, max(scores) + 0.15 * height)
    style.label_log_axis(axes.xaxis)
    device = textwrap.shorten(panel.key.device_name, 40, placeholder="...")
    threads = f", {panel.key.threads} threads" if panel.key.device == "cpu" else ""
    axes.set_xlabel(f"windows per second, batch {panel.throughput_batch}\n{device}{threads}")
    axes.set_ylabel(f"macro F1 on {short_name(panel.key.task.dataset)}, percent")


def _draw_front(axes: "Axes", front: Sequence[Bubble], pt2_per_parameter: float) -> None:
    """Join the bubbles of the front, from edge to edge."""
    for bubble, following in pairwise(front):
        axes.annotate(
            "",
            (bubble.windows_per_s, bubble.score.f1),
            (following.windows_per_s, following.score.f1),
            arrowprops={
                "arrowstyle": "-",
                "linestyle": "--",
                "linewidth": 0.8,
                "color": style.FAINT,
                "shrinkA": radius_pt(following, pt2_per_parameter),
                "shrinkB": radius_pt(bubble, pt2_per_parameter),
            },
        )


def radius_pt(bubble: Bubble, pt2_per_parameter: float) -> float:
    """Return the radius at which a bubble is drawn; ``pt2_per_parameter`` is the area of its bounding square."""
    return math.sqrt(bubble.n_parameters * pt2_per_parameter) / 2


def bubble_look(model: str, score: Score) -> dict[str, Any]:
    """Return face and edge of a bubble; MedMamba's is dark, so that it stands out in grey too."""
    ours = model == OURS
    if score.is_published:
        edge = style.OURS if ours else style.FAINT
        return {"facecolor": "none", "edgecolor": edge, "linewidth": 1.1, "linestyle": (0, (1.5, 0.8))}
    face = style.OURS if ours else style.GRID
    return {"facecolor": face, "edgecolor": style.INK, "linewidth": 0.6, "linestyle": "-"}


def _draw_legend(axes: "Axes", found: Sequence[Bubble], pt2_per_parameter: float) -> None:
    """Draw bubbles of round sizes, and below them the meaning of filled and hollow bubbles and of the line."""
    sizes = legend_sizes(max(bubble.n_parameters for bubble in found) / 1e6)
    plain = {"facecolor": "none", "edgecolor": style.INK, "linewidth": 0.6}
    first = [
        axes.scatter([], [], s=size * 1e6 * pt2_per_parameter, label=f"{size:g} M parameters", **plain)
        for size in sizes
    ]
    second: list[Any] = [
        axes.scatter([], [], s=36, label=label, **bubble_look("any", Score(0.0, source)))
        for source, label in (("records", "F1 measured"), ("published", "F1 as published"))
        if any(bubble.score.is_published == (source == "published") for bubble in found)
    ]
    if len(front_of(found)) > 1:
        second += axes.plot([], [], linestyle="--", color=style.FAINT, linewidth=0.8, label="Pareto front")
    for handles, height in ((first, 0.075), (second, 0.005)):
        axes.figure.legend(
            handles=handles, loc="lower center", bbox_to_anchor=(0.55, height), ncols=len(handles),
            borderaxespad=0.2, handletextpad=0.8, columnspacing=1.8, scatterpoints=1,
        )  # fmt: skip


def legend_sizes(largest_million: float) -> list[float]:
    """Return one or two round sizes, in million parameters, the last near the largest bubble."""
    rounded = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 2, 5)]
    fitting = [size for size in rounded if size <= largest_million * 1.05]
    return fitting[-3::2] or [rounded[0]]
