"""The report as files: whole, repeatable, and a pure function of records."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from bench.errors import RecordError
from bench.report import render
from tests.report.grids import ABLATIONS, Grid, write_grid


def contents_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def rendered(reported: tuple[Path, Result]) -> Path:
    """The report of the partial grid; only to be read."""
    return reported[0]


def test_a_second_report_has_the_same_bytes(partial: Path, rendered: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(partial, moved)
    render(moved, tmp_path / "report")
    assert contents_of(tmp_path / "report") == contents_of(rendered)


def test_every_table_has_all_formats_and_every_figure_too(rendered: Path) -> None:
    tables = {path.stem for path in (rendered / "tables").glob("*.csv")} - {"claims-all", "claims"}
    for suffix in (".tex", ".md", ".json"):
        assert tables <= {path.stem for path in (rendered / "tables").glob(f"*{suffix}")}
    figures = {path.stem for path in (rendered / "figures").glob("*.svg")}
    assert figures
    for suffix in (".pdf", ".png", ".txt"):
        assert figures == {path.stem for path in (rendered / "figures").glob(f"*{suffix}")}


def test_json_tables_are_valid_and_named(rendered: Path) -> None:
    for path in (rendered / "tables").glob("*.json"):
        assert json.loads(path.read_text(encoding="utf-8"))["name"] == path.stem


def test_the_document_includes_every_latex_file(rendered: Path) -> None:
    document = (rendered / "tables" / "all-tables.tex").read_text(encoding="utf-8")
    names = {path.stem for path in (rendered / "tables").glob("*.tex")} - {"all-tables"}
    assert all(f"\\input{{{name}}}" in document for name in names)


def test_checklist_is_filled_from_records(rendered: Path) -> None:
    text = (rendered / "REPRODUCIBILITY.md").read_text(encoding="utf-8")
    order = [
        "## Models",
        "## Data",
        "## Code and environment",
        "## Experiments",
        "## Infrastructure and compute",
        "## What is missing",
    ]
    assert [line for line in text.splitlines() if line.startswith("## ")] == order
    for fact in (
        "python 3.11.0",
        "Test CPU",
        "11 cells",
        "seeds 41,42",
        "transformer / ptb / seed 42: timeout",
    ):
        assert fact in text.replace("--seeds", "seeds")


def test_rendering_loads_neither_models_nor_readers_of_data(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", "transformer"), datasets=("adftd",), n_epochs=1))
    script = (
        "import sys; from pathlib import Path; from bench.report import render; "
        "render(Path(sys.argv[1]), Path(sys.argv[2])); "
        "print([name for name in ('torch', 'mne', 'wfdb', 'h5py', 'bench.models.medmamba') if name in sys.modules])"
    )
    command = [sys.executable, "-c", script, str(tmp_path), str(tmp_path / "report")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_record_is_an_error_that_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"no record of a finished cell; run 'bench run --out"):
        render(tmp_path, tmp_path / "report")


@pytest.mark.parametrize(
    "grid",
    [
        Grid(
            models=("medmamba",), datasets=("ptb",), seeds=(41,), failed=frozenset({("medmamba", "ptb", 41)})
        ),
        Grid(models=("transformer",), datasets=("ptb",), seeds=(41,)),
        Grid(models=ABLATIONS, datasets=("adftd",), seeds=(41,)),
    ],
    ids=["all failed", "one model that is not MedMamba", "variants alone"],
)
def test_little_is_reported_too(tmp_path: Path, grid: Grid) -> None:
    write_grid(tmp_path, grid)
    report = render(tmp_path, tmp_path / "report")
    assert report.page.is_file()
    assert report.damaged == ()


def test_damaged_records_are_told_on_the_page_and_to_the_caller(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",)))
    path = next((tmp_path / "cells").rglob("record.json"))
    path.write_text("{", encoding="utf-8")
    report = render(tmp_path, tmp_path / "report")
    assert [str(path) in str(error) for error in report.damaged] == [True]
    assert "Files left out" in report.page.read_text(encoding="utf-8")


def test_other_settings_are_in_tables_of_their_own(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",)))
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), kind="simulated", preset="demo"))
    render(tmp_path, tmp_path / "report")
    other = (tmp_path / "report/tables/other-ptb-1.md").read_text(encoding="utf-8")
    assert "SIMULATED" in other
    assert "SIMULATED" not in (tmp_path / "report/tables/main-ptb.md").read_text(encoding="utf-8")


def test_the_page_of_the_whole_grid_stays_below_ten_megabytes(tmp_path: Path) -> None:
    sizes = []
    for seeds in ((41,), (41, 42)):
        grid = Grid(models=("medmamba",), datasets=("ptb",), seeds=seeds, n_epochs=100)
        write_grid(tmp_path, grid)
        sizes.append(render(tmp_path, tmp_path / "report").page.stat().st_size)
    for_cells = 375 * (sizes[1] - sizes[0])
    assert for_cells < 5e6
    assert sizes[0] < 1e6


def test_command_ends_with_the_path_of_the_page(reported: tuple[Path, Result]) -> None:
    report, result = reported
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"page: {report / 'index.html'}"
    assert "Who wins where" in result.stdout
