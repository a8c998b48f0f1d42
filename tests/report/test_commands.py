"""Records say which command makes their cells again."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from bench.cli.over_grid import split_request
from bench.cli.run import command as run_command
from bench.models import registry
from bench.report.commands import changed_settings, command_of, commands
from bench.results.record import Record
from bench.settings import CellSettings, preset, resolve
from tests.report.grids import Grid, write_grid


def one_record(out: Path, grid: Grid) -> Record:
    return write_grid(out, grid)[0]


def settled(record: Record, preset_name: str, **values: Any) -> Record:
    """Return the record with the settings that a preset and a user's values give its cell."""
    cell, chosen = record.cell, preset(preset_name)
    settings = resolve(
        cell.model, cell.dataset, cell.seed, recipe_name=cell.recipe, preset=chosen, assignments=values
    )
    return record.model_copy(update={"settings": settings.model_dump(mode="json")})


def parsed(command: str) -> tuple[list[CellSettings], dict[str, Any]]:
    """Return the settings of all cells that a command line asks for, and its other options."""
    words = shlex.split(command)
    assert words[:2] == ["bench", "run"]
    options = run_command.make_context("run", words[2:]).params
    data = options.pop("data")
    request, rest = split_request(options, data)
    return request.settings(), rest | {"data": data}


def test_models_with_the_same_seeds_share_a_command(tmp_path: Path) -> None:
    missing = frozenset({("patchtst", "ptb", 42)})
    found = commands(write_grid(tmp_path, Grid(datasets=("ptb",), missing=missing)))
    assert found == [
        "bench run --recipe published --datasets ptb --models patchtst --seeds 41 --data DIR",
        "bench run --recipe published --datasets ptb --models medmamba,transformer --seeds 41,42 --data DIR",
    ]


@pytest.mark.parametrize("dataset", ["adftd", "ptb"])
@pytest.mark.parametrize("model", ["medmamba", "medmamba-single-scale", "medformer"])
@pytest.mark.parametrize(
    ("preset_name", "values"),
    [
        ("paper", {}),
        ("demo", {}),
        ("demo", {"epochs": 50, "split": "fold 1/2", "patience": None}),
        ("paper", {"d_model": 64, "augmentation": False, "scan": "torch"}),
    ],
)
def test_the_command_asks_for_the_cell_and_no_other(
    tmp_path: Path, model: str, dataset: str, preset_name: str, values: dict[str, Any]
) -> None:
    grid = Grid(models=(model,), datasets=(dataset,), seeds=(41,), preset=preset_name)
    record = settled(one_record(tmp_path, grid), preset_name, **values)
    (settings,), _ = parsed(command_of(record))
    found = settings.model_dump(mode="json")
    for part in ("model", "dataset", "seed", "recipe", "training", "hyperparameters", "data", "execution"):
        assert found[part] == record.settings[part]


@pytest.mark.parametrize("tried", [1, 3])
def test_the_command_has_the_number_of_tried_configurations(tmp_path: Path, tried: int) -> None:
    grid = Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,), recipe="equal")
    record = one_record(tmp_path, grid)
    tuned = {"number": 1, "tried": tried}
    record = record.model_copy(update={"settings": record.settings | {"tuned": tuned}})
    assert f" --configurations {tried}" in command_of(record)
    assert parsed(command_of(record))[0]


@pytest.mark.parametrize(
    ("preset_name", "kind", "needs_data"),
    [("demo", "simulated", False), ("demo", "excerpt", True), ("paper", "simulated", True)],
)
def test_only_the_cohorts_of_a_preset_need_no_folder(
    tmp_path: Path, preset_name: str, kind: Any, needs_data: bool
) -> None:
    grid = Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,), preset=preset_name, kind=kind)
    _, rest = parsed(command_of(one_record(tmp_path, grid)))
    assert rest["data"] == (Path("DIR") if needs_data else None)


def test_a_users_own_model_is_named_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = "*, n_channels, n_times, n_classes, d_model=8"
    Path("own.py").write_text(f"class Net:\n    def __init__(self, {arguments}): ...\n")
    name = registry.register_file("./own.py:Net")
    record = one_record(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,)))
    own = record.model_copy(
        update={
            "cell": record.cell.model_copy(update={"model": name}),
            "revisions": record.revisions | {"model": "0" * 64},
        }
    )
    assert "--models ./own.py:Net " in command_of(own)
    (settings,), _ = parsed(command_of(settled(own, "paper")))
    assert settings.model == name


def test_changed_settings_are_the_presets_and_the_users(tmp_path: Path) -> None:
    record = one_record(tmp_path, Grid(models=("transformer",), datasets=("ptb",), seeds=(41,)))
    assert changed_settings(record) == ()
    changed = changed_settings(settled(record, "demo", epochs=100, d_ff=32))
    assert {"d_ff=32", "d_model=32", "batch_size=8"} <= set(changed)
    assert "epochs=100" not in changed
