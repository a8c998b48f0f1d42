"""Records say which command makes their cells again."""

import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from bench.reports.commands import assignments, command_of, commands
from bench.results.record import Record
from bench.settings import preset, resolve
from bench.settings.resolve import parse_assignments
from tests.reports.grids import Grid, write_grid


def one_record(out: Path, grid: Grid) -> Record:
    return write_grid(out, grid)[0]


def test_models_with_the_same_seeds_share_a_command(tmp_path: Path) -> None:
    missing = frozenset({("patchtst", "ptb", 42)})
    found = commands(write_grid(tmp_path, Grid(datasets=("ptb",), missing=missing)))
    assert found == [
        "bench run --recipe published --datasets ptb --models patchtst --seeds 41",
        "bench run --recipe published --datasets ptb --models medmamba,transformer --seeds 41,42",
    ]


def test_a_plain_cell_has_a_plain_command(tmp_path: Path) -> None:
    record = one_record(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,)))
    assert command_of(record) == "bench run --recipe published --datasets ptb --models medmamba --seeds 41"


@pytest.mark.parametrize("model", ["medmamba", "patchtst"])
def test_the_command_resolves_to_the_settings_of_the_record(tmp_path: Path, model: str) -> None:
    record = one_record(tmp_path, Grid(models=(model,), datasets=("ptb",), seeds=(41,), preset="demo"))
    words = shlex.split(command_of(record))
    changes = tuple(text for flag, text in pairwise(words) if flag == "--set")
    assert changes == assignments(record)
    again = resolve(
        model,
        "ptb",
        41,
        recipe_name="published",
        preset=preset("paper"),
        assignments=parse_assignments(changes),
    )
    for part in ("training", "hyperparameters", "data"):
        assert again.model_dump(mode="json")[part] == record.settings[part]
