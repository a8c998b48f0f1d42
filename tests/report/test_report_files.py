"""A report's folder holds that report alone, and one figure that fails does not take the rest with it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.render.figure import Figure
from bench.render.labels import LabelsDoNotFitError
from bench.report import render
from bench.report.contents import read_contents
from bench.report.figures import dot_plot
from bench.report.figures.dot_plot import figure as results_figure
from bench.studies.predicted import Predicted
from tests.report.grids import Grid, write_grid

if TYPE_CHECKING:
    import matplotlib.figure


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_files_of_an_earlier_report_do_not_survive_and_others_do(tmp_path: Path) -> None:
    out, report = tmp_path / "out", tmp_path / "report"
    write_grid(out, Grid(models=("medmamba",), datasets=("adftd", "ptb"), n_epochs=1))
    render(out, report)
    (report / "notes.txt").write_text("mine", encoding="utf-8")
    other = tmp_path / "other"
    write_grid(other, Grid(models=("medmamba",), datasets=("ptb",), n_epochs=1))
    render(other, report)
    listed = json.loads((report / "files.json").read_text(encoding="utf-8"))["files"]
    assert names(report) == {*listed, "files.json", "notes.txt"}
    assert not any("adftd" in name for name in names(report))


def test_a_manifest_cannot_remove_files_outside_of_the_report(tmp_path: Path) -> None:
    out, report, precious = tmp_path / "out", tmp_path / "report", tmp_path / "precious.txt"
    write_grid(out, Grid(models=("medmamba",), datasets=("ptb",), n_epochs=1))
    precious.write_text("mine", encoding="utf-8")
    report.mkdir()
    (report / "files.json").write_text('{"files": ["../precious.txt", 7]}', encoding="utf-8")
    render(out, report)
    assert precious.is_file()


def no_room() -> "matplotlib.figure.Figure":
    """Draw nothing, as a figure with too many labels does."""
    raise LabelsDoNotFitError("the figure has no room for label 9 of 9; show fewer models")


def crowded(tested: Predicted, name: str) -> Figure:
    """Return the figure of results without room for its labels."""
    figure = results_figure(tested, name)
    assert figure is not None
    return replace(figure, draw=no_room)


def test_a_figure_without_room_is_left_out_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", "transformer"), datasets=("ptb",), n_epochs=1))

    monkeypatch.setattr(dot_plot, "figure", crowded)
    report = render(tmp_path, tmp_path / "report")
    page = report.page.read_text(encoding="utf-8")
    assert "no room for label 9 of 9" in page
    assert 'id="figure-results-ptb"' not in page
    assert 'id="figure-curves-ptb"' in page
    assert len(read_contents(tmp_path).damaged) == 0
