"""The box above all numbers: what it rests on, what lacks, and where it was measured."""

import shutil
from pathlib import Path

import pytest

from bench.analyses import store
from bench.analyses.efficiency.record import ANALYSIS
from bench.report.contents import read_contents
from bench.report.evidence import facts
from tests.analyses.efficiency.efficiency_records import make_session
from tests.report.grids import ABLATIONS, Grid, write_grid


def box(out: Path) -> dict[str, str]:
    contents = read_contents(out)
    lines = facts(contents.records, contents.suites, contents.measured, contents.damages)
    return {line.label: line.text for line in lines}


def test_two_of_five_seeds_are_not_the_whole_grid(full: Path) -> None:
    assert (
        "seeds of the paper not run: PTB 43, 44, 45; PTB-XL 43, 44, 45" in box(full)["Grid, recipe published"]
    )


def test_a_seed_that_a_reduced_model_lacks_is_named(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(datasets=("adftd",)))
    write_grid(
        tmp_path,
        Grid(models=ABLATIONS, datasets=("adftd",), missing=frozenset({(ABLATIONS[0], "adftd", 42)})),
    )
    assert f"{ABLATIONS[0]} on ADFTD: seed 42 not run" in box(tmp_path)["Grid, recipe published"]


def test_efficiency_on_a_gpu_is_not_denied_by_cells_on_a_cpu(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",)))
    assert "All results are from CPUs" in box(tmp_path)["GPU"]
    for record in make_session(device="cuda"):
        store.write(tmp_path, ANALYSIS, record)
    assert "GPU" not in box(tmp_path)
    assert box(tmp_path)["Machines of efficiency and scaling"] == "made-up cuda (cuda)"


def test_test_parts_of_all_recipes_are_counted(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(datasets=("ptb",)))
    write_grid(tmp_path, Grid(datasets=("ptb",), recipe="medformer", sizes={"ptb": (5, 6)}))
    assert box(tmp_path)["Test subjects"].startswith("PTB 5, PTB 12")


@pytest.mark.parametrize("name", ["here", "elsewhere"])
def test_what_is_damaged_is_named_without_the_place_of_the_results(tmp_path: Path, name: str) -> None:
    write_grid(tmp_path / "first", Grid(models=("medmamba",), datasets=("ptb",)))
    out = tmp_path / name
    shutil.move(tmp_path / "first", out)
    next((out / "cells").rglob("predictions.npz")).write_bytes(b"")
    assert str(tmp_path) not in box(out)["Files left out"]
    assert "cells/ptb/medmamba/" in box(out)["Files left out"]
