"""Figures are drawn from data that can be checked, and are the same bytes every time."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import matplotlib.figure
import numpy as np
import pytest

from bench.render.figure import Figure
from bench.render.style import figure_style, new_figure, save_figure
from bench.report.figures.ablation_bars import ablation_bars
from bench.report.figures.ablation_dots import ablation_figure
from bench.report.figures.calibration import figure as calibration_figure
from bench.report.figures.calibration import pooled
from bench.report.figures.confusion import figure as confusion_figure
from bench.report.figures.confusion import matrices
from bench.report.figures.critical_difference import critical_difference_figure
from bench.report.figures.dot_plot import figure as results_figure
from bench.report.figures.dot_plot import panels
from bench.report.figures.subject_strip import figure as subject_figure
from bench.report.figures.subject_strip import strips
from bench.report.figures.training_curves import Curve, curves
from bench.report.figures.training_curves import draw as draw_curves
from bench.report.figures.training_curves import figure as curves_figure
from bench.results.store import read_all
from bench.studies.ablation_differences import read_ablation
from bench.studies.aggregate import compare
from bench.studies.models_in_detail import models_in_detail
from bench.studies.predicted import Predicted, read_predicted
from bench.studies.subject_scores import Reliability
from bench.studies.suite import Suite, make_suites
from tests.report.grids import ABLATIONS, Grid, write_grid


def suite_of(out: Path) -> Suite:
    return make_suites(compare(read_all(out)[0]))[0]


def predictions_of(out: Path, dataset: str = "ptb") -> Predicted:
    study = suite_of(out).study(dataset)
    assert study is not None
    return read_predicted(out, study)


def all_figures(out: Path) -> list[Figure]:
    suite, tested = suite_of(out), predictions_of(out)
    ablated = suite.study("adftd")
    assert ablated is not None
    ablation = read_ablation(out, ablated)
    assert ablation is not None
    found = [
        results_figure(tested, "results"),
        curves_figure(tested, "curves"),
        confusion_figure(tested, "confusion"),
        subject_figure(tested, "subjects"),
        calibration_figure(tested, "calibration"),
        critical_difference_figure(suite, "f1", "critical-difference"),
        ablation_figure(ablation, "ablation"),
        ablation_bars(ablation, "ablation-bars"),
    ]
    return [figure for figure in found if figure is not None]


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def drawn(fair: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all figures of whole data; only to be read."""
    folder = tmp_path_factory.mktemp("drawn")
    for figure in all_figures(fair):
        figure.write(folder)
    return folder


def test_every_figure_has_three_files_with_the_same_bytes_twice(
    fair: Path, drawn: Path, tmp_path: Path
) -> None:
    for figure in all_figures(fair):
        figure.write(tmp_path)
    assert len(digests(drawn)) == 8 * 3
    assert digests(tmp_path) == digests(drawn)


def test_nothing_is_cut_at_the_edges(fair: Path) -> None:
    for figure in all_figures(fair):
        assert_nothing_is_cut(figure.name, figure.draw)


def test_scale_of_losses_has_room_for_long_numbers() -> None:
    """Ticks of 13.5 and 1.05 are as wide as losses get."""
    for low, high in ((12.5, 14.0), (0.95, 1.5)):
        loss, score = (Curve(values, values, values) for values in (np.linspace(low, high, 3), np.zeros(3)))
        data = {"transformer": {"train_loss": loss, "val_loss": loss, "val_f1": score}}
        assert_nothing_is_cut("curves", partial(draw_curves, data))


def assert_nothing_is_cut(name: str, draw: Callable[[], matplotlib.figure.Figure]) -> None:
    with figure_style():
        drawn = draw()
        drawn.canvas.draw()
        bounds = drawn.get_tightbbox()
    width, height = drawn.get_size_inches()
    over = max(-bounds.x0, -bounds.y0, bounds.x1 - width, bounds.y1 - height)
    assert over < 0.01, f"{name}: {over:.2f} inches lie outside the picture"


def test_figures_say_in_words_what_they_show(fair: Path) -> None:
    for figure in all_figures(fair):
        assert len(figure.alt) > 40
        assert figure.caption
        assert figure.title


def test_critical_difference_prints_n_cd_and_alpha(fair: Path, tmp_path: Path) -> None:
    figure = critical_difference_figure(suite_of(fair), "f1", "cd")
    assert figure is not None
    figure.write(tmp_path)
    text = (tmp_path / "cd.svg").read_text(encoding="utf-8")
    assert "N = 6, alpha = 0.05" in text
    assert "CD = 1.35" in text


def test_users_matplotlib_settings_do_not_leak_in(tmp_path: Path) -> None:
    import matplotlib as mpl

    def draw(name: str) -> bytes:
        with figure_style():
            figure = new_figure(2, 2)
            figure.subplots().plot([1, 2], [1, 2])
        save_figure(figure, tmp_path, name)
        return (tmp_path / f"{name}.svg").read_bytes()

    plain = draw("plain")
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 30}):
        assert draw("changed") == plain
        assert mpl.rcParams["lines.linewidth"] == 9


def test_a_dollar_in_a_name_is_no_formula(tmp_path: Path) -> None:
    with figure_style():
        figure = new_figure(2, 2)
        figure.subplots().set_title("a$b_{c")
    save_figure(figure, tmp_path, "dollar")
    assert "a$b_{c" in (tmp_path / "dollar.svg").read_text(encoding="utf-8")


def test_dots_have_every_seed_and_the_published_score(full: Path) -> None:
    dot = next(dot for dot in panels(predictions_of(full))[0].dots if dot.model == "medmamba")
    assert len(dot.runs) == 2
    assert dot.mean == pytest.approx(np.mean(dot.runs))
    assert dot.published == (85.97, 1.75)


def test_incomplete_models_are_crosses(partial: Path) -> None:
    complete = {dot.model: dot.complete for dot in panels(predictions_of(partial))[0].dots}
    assert complete == {"medmamba": True, "patchtst": True, "transformer": False}


def test_incomplete_models_come_last_and_are_never_called_the_best(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(datasets=("ptb",)))
    best = panels(predictions_of(tmp_path))[1].dots[0].model
    record = next((tmp_path / "cells/ptb" / best).glob("*s42*/record.json"))
    record.unlink()
    tested = predictions_of(tmp_path)
    assert panels(tested)[1].dots[-1].model == best
    figure = results_figure(tested, "results")
    assert figure is not None
    assert f"Highest macro F1: {best}" not in figure.alt


def test_bars_of_the_dots_are_intervals_over_subjects(full: Path) -> None:
    for panel in panels(predictions_of(full)):
        for dot in panel.dots:
            assert dot.interval is not None
            assert dot.interval[0] <= dot.mean <= dot.interval[1]


def test_one_test_subject_gives_no_interval(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(datasets=("sleep-edf",), sizes={"sleep-edf": (1, 20)}))
    assert [dot.interval for dot in panels(predictions_of(tmp_path, "sleep-edf"))[0].dots] == [None] * 3


def test_a_plot_of_one_dot_is_left_out(tmp_path: Path) -> None:
    grid = Grid(models=("transformer",), datasets=("sleep-edf",), sizes={"sleep-edf": (1, 20)}, n_epochs=1)
    write_grid(tmp_path, grid)
    tested = predictions_of(tmp_path, "sleep-edf")
    assert results_figure(tested, "results") is None
    assert subject_figure(tested, "accuracy-by-subject") is None
    assert curves_figure(tested, "curves") is not None


@pytest.mark.parametrize(
    ("kind", "said"), [("simulated", "SIMULATED data"), ("excerpt", "EXCERPT of the data")]
)
def test_pictures_say_themselves_what_data_they_show(
    tmp_path: Path, kind: Literal["simulated", "excerpt"], said: str
) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("adftd", "ptb"), kind=kind, n_epochs=2))
    write_grid(tmp_path, Grid(recipe="medmamba", models=ABLATIONS, datasets=("adftd",), kind=kind))
    figures = all_figures(tmp_path)
    assert len(figures) == 8
    assert [figure.name for figure in figures if said not in figure.stamp] == []
    of_one_dataset = [figure for figure in figures if figure.name != "critical-difference"]
    assert all(figure.stamp.startswith(("ADFTD. ", "PTB. ")) for figure in of_one_dataset)
    # All are written by the one method that puts the stamp into the picture.
    (_, svg, _) = figures[-1].write(tmp_path / "figures")
    assert figures[-1].stamp in svg.read_text(encoding="utf-8")


def test_pictures_of_whole_data_do_not_name_another_kind(drawn: Path) -> None:
    for path in drawn.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "SIMULATED" not in text
        assert "EXCERPT" not in text


def test_curves_name_the_seeds_of_a_model_that_lacks_some(partial: Path) -> None:
    figure = curves_figure(predictions_of(partial), "curves")
    assert figure is not None
    assert "transformer (seed 41 only)" in figure.alt


def test_curves_of_seeds_that_stop_early_end_where_they_end(full: Path) -> None:
    group = predictions_of(full).study.groups["medmamba"]
    short = group.records[0].model_copy(update={"history": group.records[0].history[:2]})
    found = curves([short, group.records[1]])["val_loss"]
    assert len(found.mean) == 4
    assert found.low[0] < found.high[0]
    assert found.low[3] == found.high[3] == group.records[1].history[3].val_loss


def test_details_are_of_medmamba_and_its_best_rival(full: Path) -> None:
    tested = predictions_of(full)
    ranked = [dot.model for dot in panels(tested)[1].dots]
    rival = next(model for model in ranked if model != "medmamba")
    assert models_in_detail(tested) == ["medmamba", rival]


def test_confusion_panels_are_of_windows_and_of_subjects(full: Path) -> None:
    found = matrices(predictions_of(full))
    assert [one.title.split(": ")[1] for one in found] == ["windows", "subjects, majority vote"] * 2
    assert [int(one.counts.sum()) for one in found] == [144, 24] * 2
    assert found[0].shares.sum(axis=1) == pytest.approx([1.0, 1.0])


def test_no_subject_panel_where_subjects_have_several_classes(full: Path) -> None:
    assert len(matrices(predictions_of(full, "sleep-edf"))) == 2


def test_strips_have_a_dot_for_each_subject_and_complete_models_only(partial: Path) -> None:
    found = strips(predictions_of(partial))
    assert set(found) == {"medmamba", "patchtst"}
    assert all(len(values) == 12 for values in found.values())


def test_pooled_reliability_weighs_bins_by_their_windows() -> None:
    one = Reliability(np.array([0.5, 0.5]), np.array([0.2, 0.8]), np.array([0.0, 1.0]))
    two = Reliability(np.array([0.0, 1.0]), np.array([0.0, 0.6]), np.array([0.0, 0.4]))
    found = pooled([one, two])
    assert found.share == pytest.approx([0.25, 0.75])
    assert found.confidence == pytest.approx([0.2, (0.5 * 0.8 + 0.6) / 1.5])
