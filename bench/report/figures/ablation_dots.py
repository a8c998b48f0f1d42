"""What each part of MedMamba adds: differences of the reduced models to the full model, one line per score."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bench.paper.names import short_name
from bench.render import style
from bench.render.figure import Figure
from bench.results.metrics import METRICS
from bench.studies import kinds
from bench.studies.ablation_differences import Ablation, Difference
from bench.studies.caption import study_caption

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_FORMS = ("o", "s", "^", "D", "v", "P")
_COLOURS = (style.BLUE, style.ORANGE, style.GREEN)

Rows = Mapping[str, Sequence[Difference]]
"""Differences of each variant, in the order of `METRICS`."""


def ablation_figure(ablation: Ablation, name: str) -> Figure | None:
    """Return the figure of one dataset, or None if no difference can be paired by seed."""
    rows = {
        variant: [found[metric] for metric in METRICS]
        for variant, found in ablation.differences.items()
        if any(difference.mean is not None for difference in found.values())
    }
    if not rows:
        return None
    f1 = list(METRICS).index("f1")
    differences_texts = [
        f"{variant} {mean:+.1f}" for variant, found in rows.items() if (mean := found[f1].mean) is not None
    ]
    study = ablation.study
    caption = study_caption(study, ablation.groups.values())
    title = f"{short_name(study.dataset)}: what each part of MedMamba adds"
    return Figure(
        name=name,
        title=title,
        caption=(
            "Reduced minus full model in percentage points, mean over paired seeds; a value left of zero means that "
            f"the part helps. Lines: 95% intervals over test subjects, where they can be computed. {caption}"
        ),
        alt=f"{title}: difference of each reduced model to the full one. F1: {', '.join(differences_texts)} points.",
        draw=partial(draw, rows),
        stamp=kinds.data_stamp(short_name(study.dataset), study.record.data),
    )


def draw(rows: Rows) -> "matplotlib.figure.Figure":
    """Draw one line of dots per metric."""
    figure = style.new_figure(style.PAGE_IN, 0.9 + 0.3 * len(METRICS))
    draw_axes(rows, figure.subplots())
    return figure


def draw_axes(rows: Rows, axes: "Axes") -> None:
    """Draw the differences; zero is the full model."""
    axes.axvline(0, color=style.INK, linewidth=0.9)
    for number, (variant, found) in enumerate(rows.items()):
        shift = 0.24 * (number - (len(rows) - 1) / 2)
        colour = _COLOURS[number % len(_COLOURS)]
        known = [
            (line + shift, difference, difference.mean)
            for line, difference in enumerate(found)
            if difference.mean is not None
        ]
        axes.plot(
            [mean for _, _, mean in known], [line for line, _, _ in known], _FORMS[number % len(_FORMS)],
            color=colour, label=variant,
        )  # fmt: skip
        for line, difference, _ in known:
            if difference.low is not None and difference.high is not None:
                axes.plot([difference.low, difference.high], [line, line], color=colour, linewidth=1)
    axes.set_yticks(range(len(METRICS)), METRICS.values())
    axes.set_ylim(len(METRICS) - 0.4, -0.6)
    axes.set_xlabel("reduced minus full model (percentage points)")
    axes.grid(axis="y", visible=False)
    axes.figure.legend(loc="outside lower center", ncols=3)
