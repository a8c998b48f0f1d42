"""Results on one dataset as dots: every model's accuracy and F1 with interval and seeds, and published scores."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bench.paper import published
from bench.paper.names import OURS, short_name
from bench.render import style
from bench.render.figure import Figure
from bench.stats.draws import LEVEL
from bench.stats.two_way import score_estimate
from bench.stats.unknowable import NoIntervalError
from bench.studies import kinds
from bench.studies.caption import data_remarks, plural, study_setting
from bench.studies.chance import majority_scores, stratified_scores
from bench.studies.predicted import Predicted
from bench.studies.suite import Study

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

NAME, POSITION = "results", 1

_SHOWN = {"accuracy": "Accuracy (%)", "f1": "Macro F1 (%)"}


@dataclass(frozen=True)
class Dot:
    """One model in one panel, in percent.

    `mean` is over seeds, `interval` over test subjects (None without predictions or with a single test subject),
    `runs` are every seed's score, `published` the paper's mean and deviation.
    """

    model: str
    mean: float
    interval: tuple[float, float] | None
    runs: tuple[float, ...]
    complete: bool
    published: tuple[float, float] | None


@dataclass(frozen=True)
class Panel:
    """One metric: dots from the best model down, and the scores of chance and of an ideal classifier if known."""

    title: str
    dots: tuple[Dot, ...]
    chance: tuple[float, float]
    attainable: float | None = None


def panels(tested: Predicted) -> list[Panel]:
    """Return the data of the figure; models are in the same order in all panels, complete ones first, by F1."""
    study = tested.study
    order = sorted(study.groups, key=lambda group: (not study.is_complete(group), -_mean(study, group, "f1")))
    counts = study.record.data.parts["test"].windows_per_class
    attainable: dict[str, float] = {**study.record.data.attainable}
    result = []
    for metric, title in _SHOWN.items():
        chance = tuple(100 * scores(counts)[metric] for scores in (majority_scores, stratified_scores))
        dots = tuple(dot for model in order if (dot := _dot(tested, model, metric)))
        best = 100 * attainable[metric] if metric in attainable else None
        result.append(Panel(title, dots, (chance[0], chance[1]), best))
    return result


def figure(tested: Predicted, name: str) -> Figure | None:
    """Return the figure of a dataset, or None where fewer than two models have a score."""
    data, study = panels(tested), tested.study
    if len(data[0].dots) < 2:
        return None
    best = next((dot for dot in data[1].dots if dot.complete), None)
    is_bounded = any(panel.attainable is not None for panel in data)
    bound = "; dashed line: attainable, what an ideal classifier is expected to reach" if is_bounded else ""
    highest = f" Highest macro F1: {best.model} with {best.mean:.1f} percent." if best else ""
    return Figure(
        name=name,
        title=f"{short_name(study.dataset)}: results",
        caption=(
            f"Dot: mean over seeds; bar: {LEVEL:.0%} interval for other seeds and other test subjects (none with one "
            "seed, or with one subject in a class); small ticks: single seeds; open diamond: published value with its "
            "deviation, not measured here; "
            f"cross: seeds are missing, not comparable; dotted lines: majority class and stratified guess{bound}. "
            f"{study_setting(study)} {'. '.join(data_remarks(study))}"
        ),
        alt=(
            f"Dot plot of accuracy and macro F1 of {plural(len(data[0].dots), 'model')} on {study.label}.{highest}"
        ),
        draw=partial(draw, data),
        stamp=kinds.data_stamp(short_name(study.dataset), study.record.data),
    )


def draw(data: Sequence[Panel]) -> "matplotlib.figure.Figure":
    """Draw the panels side by side."""
    figure = style.new_figure(style.PAGE_IN, 1.15 + 0.19 * len(data[0].dots))
    axes = figure.subplots(1, len(data), sharey=True, squeeze=False)[0]
    for panel, axis in zip(data, axes, strict=True):
        draw_panel(panel, axis)
    handles, labels = axes[0].get_legend_handles_labels()
    further = _further_handles(data[0])
    labels += [str(handle.get_label()) for handle in further]
    figure.legend([*handles, *further], labels, loc="outside lower center", ncols=4)
    return figure


def _further_handles(panel: Panel) -> list["Line2D"]:
    """Return the legend's entries of intervals and single seeds, which have no label of their own."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=style.INK, marker="|", linestyle="none", markersize=5, label="single seed")
    ]
    if any(dot.interval for dot in panel.dots):
        handles.append(Line2D([], [], color=style.INK, linewidth=1.2, label=f"{LEVEL:.0%} interval"))
    return handles


def draw_panel(panel: Panel, axes: "Axes") -> None:
    """Draw one metric."""
    for label, value in zip(("majority class", "stratified guess"), panel.chance, strict=True):
        line = ":" if label == "majority class" else (0, (1, 4))
        axes.axvline(value, color=style.INK, linestyle=line, linewidth=0.9, label=label)
    if panel.attainable is not None:
        axes.axvline(panel.attainable, color=style.INK, linestyle="--", linewidth=0.9, label="attainable")
    rows = list(enumerate(panel.dots))
    for label, marker, colour, chosen in (
        (
            "MedMamba",
            "o",
            style.OURS,
            [(row, dot) for row, dot in rows if dot.complete and dot.model == OURS],
        ),
        ("measured", "o", style.INK, [(row, dot) for row, dot in rows if dot.complete and dot.model != OURS]),
        ("seeds missing", "x", style.INK, [(row, dot) for row, dot in rows if not dot.complete]),
    ):
        if chosen:
            _draw_measured(chosen, axes, label, marker, colour)
    quoted = [(row, *dot.published) for row, dot in rows if dot.published]
    if quoted:
        lines, means, stds = zip(*quoted, strict=True)
        axes.errorbar(
            means, [row + 0.28 for row in lines], xerr=stds, fmt="D", mfc="none", color=style.ORANGE,
            markersize=3, elinewidth=0.7, label="published",
        )  # fmt: skip
    axes.set_yticks(range(len(panel.dots)), [dot.model for dot in panel.dots])
    axes.set_ylim(len(panel.dots) - 0.4, -0.6)
    axes.set_xlabel(panel.title)
    axes.grid(axis="y", visible=False)


def _draw_measured(
    rows: Sequence[tuple[int, Dot]], axes: "Axes", label: str, marker: str, colour: str
) -> None:
    """Draw means with their intervals, and a tick for each seed."""
    for row, dot in rows:
        if dot.interval is not None:
            axes.plot(dot.interval, [row, row], color=colour, linewidth=1.2)
    axes.plot(
        [dot.mean for _, dot in rows],
        [row for row, _ in rows],
        marker,
        color=colour,
        linestyle="none",
        label=label,
    )
    runs = [(run, row) for row, dot in rows for run in dot.runs]
    axes.plot(*zip(*runs, strict=True), "|", color=colour, markersize=5, markeredgewidth=0.6)


def _dot(tested: Predicted, model: str, metric: str) -> Dot | None:
    study = tested.study
    group = study.groups[model]
    score = group.score(metric)
    if score is None:
        return None
    interval = None
    if tested.is_complete(model):
        with suppress(NoIntervalError):
            bounds = score_estimate(tested.left_out(model, metric)).share_bounds(LEVEL)
            interval = (100 * bounds.low, 100 * bounds.high)
    printed = published.lookup(study.dataset, model, metric)
    return Dot(
        model=model,
        mean=100 * score.mean,
        interval=interval,
        runs=tuple(100 * getattr(record.metrics.test, metric) for record in group.records if record.metrics),
        complete=study.is_complete(model),
        published=(printed.mean, printed.std) if printed else None,
    )


def _mean(study: Study, model: str, metric: str) -> float:
    score = study.groups[model].score(metric)
    return -1.0 if score is None else score.mean
