"""Reliability diagram: accuracy by confidence, and the distribution of confidence."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.paper.names import short_name
from bench.render import style
from bench.render.figure import Figure
from bench.studies import kinds
from bench.studies.caption import study_setting
from bench.studies.models_in_detail import models_in_detail
from bench.studies.predicted import Predicted
from bench.studies.subject_scores import N_BINS, Reliability

if TYPE_CHECKING:
    import matplotlib.figure

NAME, POSITION = "calibration", 4


def pooled(reliabilities: Sequence[Reliability]) -> Reliability:
    """Return the reliability of all seeds' windows together (seeds have the same windows)."""
    shares = np.array([reliability.share for reliability in reliabilities])
    total = np.maximum(shares.sum(axis=0), np.finfo(float).tiny)

    def weighted(field: str) -> np.ndarray:
        return (shares * np.array([getattr(reliability, field) for reliability in reliabilities])).sum(
            axis=0
        ) / total

    return Reliability(shares.mean(axis=0), weighted("confidence"), weighted("accuracy"))


def figure(tested: Predicted, name: str) -> Figure | None:
    """Return the diagram of a dataset, or None where no model is complete."""
    study = tested.study
    data = {
        model: pooled([cell.reliability for cell in cells])
        for model, cells in tested.cells.items()
        if tested.is_complete(model)
    }
    if not data:
        return None
    shown = models_in_detail(tested)
    errors = ", ".join(f"{model} {100 * data[model].calibration_error:.1f}" for model in shown)
    return Figure(
        name=name,
        title=f"{short_name(study.dataset)}: calibration",
        caption=(
            f"Accuracy against confidence in {N_BINS} equal bins, windows of all seeds together; below the diagonal a "
            f"model is overconfident. Right: the distribution of confidences. Thin grey lines: the other models. "
            f"Expected calibration error in percent: {errors}. {study_setting(study)}"
        ),
        alt=f"Reliability diagram on {study.label}. Expected calibration error in percent: {errors}.",
        draw=partial(draw, data, shown),
        stamp=kinds.data_stamp(short_name(study.dataset), study.record.data),
    )


def draw(data: Mapping[str, Reliability], shown: Sequence[str]) -> "matplotlib.figure.Figure":
    """Draw reliability and spread of confidence side by side."""
    figure = style.new_figure(style.PAGE_IN, 2.6)
    left, right = figure.subplots(1, 2)
    colours = dict(zip(shown, (style.OURS, style.RIVAL), strict=False))
    forms = dict(zip(shown, ("o-", "s--"), strict=False))
    order = [model for model in data if model not in colours] + list(shown)
    left.plot(
        [0, 100], [0, 100], color=style.INK, linewidth=0.8, linestyle=":", label="confidence = accuracy"
    )
    for model in order:
        looks: dict[str, Any] = {"fmt": "-", "color": style.OTHERS, "linewidth": 0.7}
        if model in colours:
            looks = {"fmt": forms[model], "color": colours[model], "markersize": 3}
        form = looks.pop("fmt")
        label = model if model in colours else "_" if model != order[0] else "other models"
        confidence = _filled(data[model], "confidence")
        left.plot(confidence, _filled(data[model], "accuracy"), form, label=label, **looks)
        right.plot(confidence, _filled(data[model], "share"), form, **looks)
    left.set(xlabel="confidence (%)", ylabel="accuracy (%)", xlim=(0, 100), ylim=(0, 100))
    right.set(xlabel="confidence (%)", ylabel="windows (%)", xlim=(0, 100), ylim=(0, None))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _filled(reliability: Reliability, field: str) -> np.ndarray:
    """Return a field of the bins with windows, in percent."""
    return 100 * getattr(reliability, field)[reliability.share > 0]
