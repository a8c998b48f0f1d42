import itertools
from dataclasses import replace
from pathlib import Path

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.text import Annotation, Text

from bench.analyses.efficiency.figure import (
    Bubble,
    Score,
    bubble_look,
    bubbles,
    caption_of,
    draw,
    efficiency_figure,
    front_of,
    legend_sizes,
    pareto_front,
    scores_for,
)
from bench.analyses.efficiency.panels import Panel, panels
from bench.render import style
from tests.analyses.efficiency.efficiency_records import make_condition, make_record, make_session
from tests.report.grids import Grid, write_grid


@pytest.fixture(scope="module")
def panel() -> Panel:
    (found,) = panels(make_session())
    return found


def bubble(model: str, rate: float, f1: float) -> Bubble:
    return Bubble(model, rate, Score(f1, "published"), 1_000_000)


def random_bubbles(seed: int, n_models: int, spread: float) -> list[Bubble]:
    """Return bubbles in one heap: the smaller the spread, the closer."""
    generator = np.random.default_rng(seed)
    names = ["medmamba", "crossformer", "itransformer", "medformer-latest", "transformer", "a", "nonformer"]
    return [
        Bubble(
            names[number % len(names)] + "x" * (number // len(names)),
            float(1000 * 10 ** generator.normal(0, spread)),
            Score(float(45 + 3 * generator.normal(0, spread)), "published"),
            int(generator.integers(500_000, 30_000_000)),
        )
        for number in range(n_models)
    ]


def boxes_of(figure: matplotlib.figure.Figure, texts: list[str], dpi: float) -> list[tuple[float, ...]]:
    figure.set_dpi(dpi)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # pyright: ignore[reportAttributeAccessIssue]
    found = [one for one in figure.axes[0].texts if one.get_text() in texts]
    assert len(found) == len(texts)
    return [one.get_window_extent(renderer).extents for one in found]


def check_labels_do_not_overlap(panel: Panel, found: list[Bubble], dpi: float) -> None:
    with style.figure_style():
        figure = draw(panel, found)
        boxes = boxes_of(figure, [one.model for one in found], dpi)
        inside = figure.axes[0].get_window_extent().extents
    for (a, b), (c, d) in itertools.combinations([((x[0], x[1]), (x[2], x[3])) for x in boxes], 2):
        assert b[0] <= c[0] or d[0] <= a[0] or b[1] <= c[1] or d[1] <= a[1]
    for x0, y0, x1, y1 in boxes:
        assert inside[0] - 1 <= x0 <= x1 <= inside[2] + 1
        assert inside[1] - 1 <= y0 <= y1 <= inside[3] + 1


@pytest.mark.parametrize("dpi", [72, style.PNG_DPI])
def test_labels_of_the_papers_models_do_not_overlap(panel: Panel, dpi: float) -> None:
    check_labels_do_not_overlap(panel, bubbles(panel, scores_for(panel, [])), dpi)


@pytest.mark.parametrize("spread", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("seed", range(2))
def test_labels_of_any_heap_do_not_overlap(panel: Panel, seed: int, spread: float) -> None:
    check_labels_do_not_overlap(panel, random_bubbles(seed, 14, spread), style.PNG_DPI)


def test_area_is_proportional_to_parameters(panel: Panel) -> None:
    found = bubbles(panel, scores_for(panel, []))
    with style.figure_style():
        figure = draw(panel, found)
    scatters = [one for one in figure.axes[0].collections if isinstance(one, PathCollection)]
    sizes = [float(one.get_sizes()[0]) for one in scatters[: len(found)]]
    ratios = [size / one.n_parameters for size, one in zip(sizes, found, strict=True)]
    assert ratios == pytest.approx([ratios[0]] * len(found))


def test_figure_is_a_column_wide_and_its_texts_readable(panel: Panel) -> None:
    with style.figure_style():
        figure = draw(panel, bubbles(panel, scores_for(panel, [])))
    assert figure.get_figwidth() == 3.5
    texts = [one for one in figure.findobj(Text) if isinstance(one, Text) and one.get_text().strip()]
    assert min(float(one.get_fontsize()) for one in texts) >= 6


def test_ours_is_darker_in_grey() -> None:
    def luminance(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    ours = bubble_look("medmamba", Score(50.0, "recipe published"))["facecolor"]
    others = bubble_look("mtst", Score(50.0, "recipe published"))["facecolor"]
    assert luminance(others) - luminance(ours) > 0.3


def test_published_scores_are_hollow_and_named() -> None:
    assert bubble_look("mtst", Score(50.0, "published"))["facecolor"] == "none"


def test_front_is_what_none_beats() -> None:
    points = [
        bubble("slow and good", 1, 9),
        bubble("fast", 9, 5),
        bubble("beaten", 5, 4),
        bubble("middle", 4, 7),
    ]
    assert [one.model for one in pareto_front(points)] == ["slow and good", "middle", "fast"]


def test_equal_models_of_the_front_count_once() -> None:
    assert len(pareto_front([bubble("a", 1, 5), bubble("b", 1, 5)])) == 1


def test_caption_says_device_batch_and_that_scores_are_published(panel: Panel) -> None:
    caption = caption_of(panel, bubbles(panel, scores_for(panel, [])))
    for said in ("batch 256", "made-up cpu", "PUBLISHED", "not measured here", "Pareto"):
        assert said in caption


def test_published_scores_are_the_papers(panel: Panel) -> None:
    scores = scores_for(panel, [])
    assert scores["medmamba"] == Score(52.01, "published")
    assert len(scores) == 12


def test_published_scores_are_of_the_papers_sizes_only(panel: Panel) -> None:
    small = [one.model_copy(update={"preset": "demo"}) for one in panel.records.values()]
    assert scores_for(panels(small)[0], []) == {}


def test_front_never_mixes_measured_and_published_scores() -> None:
    measured = [
        Bubble(name, rate, Score(f1, "recipe medformer"), 1) for name, rate, f1 in (("a", 1, 5), ("b", 2, 4))
    ]
    found = [*measured, bubble("published, best of all", 9, 99)]
    assert [one.model for one in front_of(found)] == ["a", "b"]
    assert [one.model for one in front_of(found[2:])] == ["published, best of all"]


def test_caption_says_whose_front_is_drawn(panel: Panel) -> None:
    published = bubbles(panel, scores_for(panel, []))
    fast, slow = (
        replace(published[0], windows_per_s=rate, score=Score(f1, "recipe medmamba"))
        for rate, f1 in ((9.0, 50.0), (1.0, 60.0))
    )
    assert caption_of(panel, published).endswith("Pareto front of the models with a published F1.")
    assert caption_of(panel, [fast, slow, *published[1:]]).endswith("front of the models with a measured F1.")


def test_a_front_of_a_single_model_is_told_and_not_drawn(panel: Panel) -> None:
    found = [bubble("medmamba", 9, 9), bubble("transformer", 1, 5)]
    assert caption_of(panel, found).endswith("No model with a published F1 beats medmamba in speed or in F1.")
    with style.figure_style():
        figure = draw(panel, found)
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert "Pareto front" not in labels


def test_caption_says_which_batch_was_smaller() -> None:
    records = [
        make_record(name, (make_condition(700, batch=64, asked=256),)) for name in ("medmamba", "mtst")
    ]
    (found,) = panels(records)
    caption = caption_of(found, bubbles(found, scores_for(found, [])))
    assert "The largest batch that fits in memory: medmamba at 64, mtst at 64." in caption


def test_scores_are_those_of_the_records_at_hand(panel: Panel, tmp_path: Path) -> None:
    """Simulated ones stand alone, filled; no published score stands beside them."""
    scores = scores_for(panel, write_grid(tmp_path, Grid(kind="simulated")))
    assert set(scores) == {"medmamba", "patchtst", "transformer"}
    assert {one.source.partition(",")[0] for one in scores.values()} == {"SIMULATED data"}
    assert bubble_look("medmamba", scores["medmamba"])["facecolor"] == style.OURS


def test_published_scores_fill_gaps_beside_the_whole_dataset(panel: Panel, tmp_path: Path) -> None:
    scores = scores_for(panel, write_grid(tmp_path, Grid()))
    measured = {name for name, one in scores.items() if not one.is_published}
    assert measured == {"medmamba", "patchtst", "transformer"}
    assert len(scores) == 12


def test_front_and_legend_of_sizes_are_drawn(panel: Panel) -> None:
    found = bubbles(panel, scores_for(panel, []))
    with style.figure_style():
        figure = draw(panel, found)
    lines = [
        one for one in figure.axes[0].texts if isinstance(one, Annotation) and one.arrow_patch is not None
    ]
    assert len(lines) == len(front_of(found)) - 1
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert labels == ["1 M parameters", "5 M parameters", "F1 as published", "Pareto front"]


def test_the_picture_names_its_dataset(panel: Panel) -> None:
    figure = efficiency_figure(panel, [], "name")
    assert figure is not None
    assert figure.stamp == "ADFTD"


def test_no_figure_without_a_score(panel: Panel) -> None:
    other = Panel(panel.key, {"medformer-latest": panel.records["medformer"]})
    assert efficiency_figure(other, [], "name") is None


@pytest.mark.parametrize(("largest", "sizes"), [(8.1, [1, 5]), (30.4, [5, 20]), (0.14, [0.02, 0.1])])
def test_legend_has_round_sizes(largest: float, sizes: list[float]) -> None:
    assert legend_sizes(largest) == pytest.approx(sizes)
