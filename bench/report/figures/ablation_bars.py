"""The ablation as bars: every score of the full and the reduced models, measured beside published."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bench.paper import published
from bench.paper.names import short_name
from bench.render import style
from bench.render.figure import Figure
from bench.results.metrics import METRICS
from bench.studies import kinds
from bench.studies.ablation_differences import Ablation
from bench.studies.aggregate import Group
from bench.studies.caption import study_caption
from bench.studies.suite import gap_of

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)
Bar = tuple[float, float]
"""Mean and deviation in percent."""


def ablation_bars(ablation: Ablation, name: str) -> Figure | None:
    """Return the figure of one dataset, or None where fewer than two models have all seeds.

    A model that lacks a seed is left out and named, since its mean would be over other seeds.
    """
    caption = study_caption(ablation.study, ablation.groups.values())
    study, where = ablation.study, short_name(ablation.study.dataset)
    gaps = {model: gap_of(group, study.seeds, where) for model, group in ablation.groups.items()}
    shown = [model for model, gap in gaps.items() if not gap]
    if len(shown) < 2:
        return None
    measured = {
        model: [_measured(ablation.groups[model], metric) for metric in published.METRICS] for model in shown
    }
    printed = (
        {model: _printed(model) for model in shown} if study.dataset == published.ABLATION_DATASET else {}
    )
    f1 = published.METRICS.index("f1")
    scores_text = ", ".join(f"{model} {bar[0]:.1f}" for model, bars in measured.items() if (bar := bars[f1]))
    beside = " Hatched: published in the MedMamba paper, not measured here." if printed else ""
    left_out = "; ".join(gap for gap in gaps.values() if gap)
    without = f" Left out: {left_out}." if left_out else ""
    return Figure(
        name=name,
        title=f"{where}: ablation, scores",
        caption=f"Scores of the full and the reduced models.{beside}{without} {caption}",
        alt=f"Bars of five scores for {len(shown)} variants of MedMamba. Macro F1 in percent: {scores_text}.",
        draw=partial(draw, measured, printed),
        stamp=kinds.data_stamp(short_name(study.dataset), study.record.data),
    )


def draw(
    measured: dict[str, list[Bar | None]], printed: dict[str, list[Bar | None]]
) -> "matplotlib.figure.Figure":
    """Draw a group of bars for each metric; each model has a bar, and a second bar for published scores."""
    figure = style.new_figure(style.PAGE_IN, 2.8)
    axes = figure.subplots()
    n_bars = len(measured) * (2 if printed else 1)
    width = 0.84 / n_bars
    position = 0
    for number, model in enumerate(measured):
        colour = _COLOURS[number % len(_COLOURS)]
        for bars, hatched in ((measured[model], False), (printed.get(model), True)):
            if bars is None:
                continue
            shift = (position - (n_bars - 1) / 2) * width
            _draw_bars(
                axes, bars, (shift, width, colour), f"{model}{', published' if hatched else ''}", hatched
            )
            position += 1
    axes.set_xticks(range(len(published.METRICS)), [METRICS[metric] for metric in published.METRICS])
    axes.set_ylim(bottom=0)
    axes.set_ylabel("percent")
    axes.grid(axis="x", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _draw_bars(
    axes: "Axes", bars: Sequence[Bar | None], place: tuple[float, float, str], label: str, hatched: bool
) -> None:
    shift, width, colour = place
    known = [(group + shift, bar) for group, bar in enumerate(bars) if bar is not None]
    axes.bar(
        [position for position, _ in known],
        [mean for _, (mean, _) in known],
        width,
        yerr=[deviation for _, (_, deviation) in known],
        color="none" if hatched else colour,
        edgecolor=colour,
        hatch="////" if hatched else None,
        linewidth=0.6,
        error_kw={"elinewidth": 0.7, "ecolor": style.INK},
        label=label,
    )


def _measured(group: Group, metric: str) -> Bar | None:
    score = group.score(metric)
    return None if score is None else (100 * score.mean, 100 * (score.std or 0.0))


def _printed(model: str) -> list[Bar | None]:
    printed = {row.metric: (row.mean, row.std) for row in published.ablation() if row.variant == model}
    return [printed.get(metric) for metric in published.METRICS]
