"""Results on one dataset as dots: every model's accuracy and F1 with seeds and deviation, the published beside."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.reports import style
from bench.reports.caption import data_remarks, study_caption
from bench.reports.chance import majority_scores, stratified_scores
from bench.reports.figure import Figure
from bench.reports.suite import OURS, Study, short_name
from bench.results import published
from bench.results.aggregate import METRICS

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_SHOWN = {"accuracy": "Accuracy (%)", "f1": "Macro F1 (%)"}


@dataclass(frozen=True)
class Dot:
    """One model in one panel, in percent: mean, deviation and every seed's score, and the published mean and std."""

    model: str
    mean: float
    std: float
    runs: tuple[float, ...]
    complete: bool
    published: tuple[float, float] | None


@dataclass(frozen=True)
class Panel:
    """One metric: dots from the best down, and what chance gives."""

    title: str
    dots: tuple[Dot, ...]
    chance: tuple[float, float]


def panels(study: Study) -> list[Panel]:
    """Return the data of the figure; models are in the same order in all panels, by F1."""
    order = sorted(study.groups, key=lambda model: _mean(study, model, "f1"), reverse=True)
    counts = study.record.data.parts["test"].windows_per_class
    result = []
    for metric, title in _SHOWN.items():
        position = METRICS.index(metric)
        chance = tuple(
            100 * (scores(counts)[position] or 0.0) for scores in (majority_scores, stratified_scores)
        )
        dots = tuple(dot for model in order if (dot := _dot(study, model, metric)))
        result.append(Panel(title, dots, (chance[0], chance[1])))
    return result


def results_figure(study: Study, name: str) -> Figure | None:
    """Return the figure of a dataset, or None where no model has a score."""
    data = panels(study)
    if not data[0].dots:
        return None
    best = data[1].dots[0]
    return Figure(
        name=name,
        title=f"{short_name(study.dataset)}: results",
        caption=(
            f"{study_caption(study)} Dot and bar: mean and standard deviation; small ticks: single seeds; open "
            "diamond: published value with its deviation, not measured here; cross: seeds are missing, "
            f"not to be compared; dotted lines: majority class and stratified guess. {'. '.join(data_remarks(study))}"
        ),
        alt=(
            f"Dot plot of accuracy and macro F1 of {len(data[0].dots)} models on {study.label}. Highest macro F1: "
            f"{best.model} with {best.mean:.1f} percent."
        ),
        draw=lambda: draw(data),
    )


def draw(data: Sequence[Panel]) -> "matplotlib.figure.Figure":
    """Draw the panels side by side."""
    figure = style.new_figure(style.PAGE_IN, 1.0 + 0.19 * len(data[0].dots))
    axes = figure.subplots(1, len(data), sharey=True, squeeze=False)[0]
    for panel, one in zip(data, axes, strict=True):
        draw_panel(panel, one)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


def draw_panel(panel: Panel, axes: "Axes") -> None:
    """Draw one metric."""
    for label, value in zip(("majority class", "stratified guess"), panel.chance, strict=True):
        line = ":" if label == "majority class" else (0, (1, 4))
        axes.axvline(value, color=style.INK, linestyle=line, linewidth=0.9, label=label)
    rows = list(enumerate(panel.dots))
    for label, marker, colour, chosen in (
        ("MedMamba", "o", style.OURS, [one for one in rows if one[1].complete and one[1].model == OURS]),
        ("measured", "o", style.INK, [one for one in rows if one[1].complete and one[1].model != OURS]),
        ("seeds missing", "x", style.INK, [one for one in rows if not one[1].complete]),
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
    """Draw means with their deviations, and a tick for each seed."""
    axes.errorbar(
        [dot.mean for _, dot in rows], [row for row, _ in rows], xerr=[dot.std for _, dot in rows],
        fmt=marker, color=colour, elinewidth=1.2, label=label,
    )  # fmt: skip
    runs = [(run, row) for row, dot in rows for run in dot.runs]
    axes.plot(*zip(*runs, strict=True), "|", color=colour, markersize=5, markeredgewidth=0.6)


def _dot(study: Study, model: str, metric: str) -> Dot | None:
    group = study.groups[model]
    score = group.score(metric)
    if score is None:
        return None
    printed = published.lookup(study.dataset, model, metric)
    return Dot(
        model=model,
        mean=100 * score.mean,
        std=100 * (score.std or 0.0),
        runs=tuple(100 * getattr(one.metrics.test, metric) for one in group.records if one.metrics),
        complete=study.is_complete(model),
        published=(printed.mean, printed.std) if printed else None,
    )


def _mean(study: Study, model: str, metric: str) -> float:
    score = study.groups[model].score(metric)
    return -1.0 if score is None else score.mean
