"""What a run keeps and removes at the top of its results folder, and what it does not train again."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from filelock import FileLock

from bench.datasets import prepare
from bench.files import ABANDONED_S
from bench.plan.grid import PlannedCell, plan
from bench.plan.planned import read_planned, write_planned
from bench.plan.request import make_request
from bench.results.store import CellFolder, read_all
from bench.run.leftovers import planned_by_others, sweep_old
from bench.run.resources import Resources
from bench.run.run_grid import execute
from tests.run.conftest import OWN

SMALL = ("epochs=1", "warmup_epochs=0", "batch_size=8", "d_model=8", "n_layers=1")


def cells(data: Path, out: Path, model: str) -> Sequence[PlannedCell]:
    request = make_request(
        models_text=f"{OWN}:{model}",
        datasets_text="uci-har",
        seeds_text="41",
        preset_name="paper",
        recipe_name="medmamba",
        assignments=(),
    )
    return plan(request, {"uci-har": prepare("uci-har", data)}, out)


def test_what_another_run_is_doing_stays_in_the_list_of_planned_cells(data: Path, tmp_path: Path) -> None:
    first, second = (cells(data, tmp_path, model) for model in ("Good", "Raises"))
    write_planned(tmp_path, first)
    (name,) = read_planned(tmp_path)
    folder = CellFolder.of(tmp_path, name.cell, name.key)
    folder.path.mkdir(parents=True)
    with FileLock(folder.lock):
        write_planned(tmp_path, second, beside=planned_by_others(tmp_path))
    assert [name.cell.model for name in read_planned(tmp_path)] == ["own_models.Good", "own_models.Raises"]
    write_planned(tmp_path, second, beside=planned_by_others(tmp_path))
    assert [name.cell.model for name in read_planned(tmp_path)] == ["own_models.Raises"]


def test_a_damaged_list_of_planned_cells_is_set_aside(data: Path, tmp_path: Path) -> None:
    planned = cells(data, tmp_path, "Good")
    write_planned(tmp_path, planned)
    whole = (tmp_path / "planned.json").read_bytes()
    (tmp_path / "planned.json").write_bytes(whole[:60])
    write_planned(tmp_path, planned, beside=planned_by_others(tmp_path))
    assert (tmp_path / "damaged-1-planned.json").read_bytes() == whole[:60]
    assert (tmp_path / "planned.json").read_bytes() == whole


def test_files_of_a_killed_run_are_removed_and_those_of_a_live_one_are_not(tmp_path: Path) -> None:
    old, new = [tmp_path / ".planned.json.a.tmp", tmp_path / ".shared-a"], tmp_path / ".shared-b"
    for path in (*old, new):
        path.touch()
    for path in old:
        os.utime(path, (0, time.time() - ABANDONED_S - 1))
    sweep_old(tmp_path)
    assert list(tmp_path.iterdir()) == [new]


def test_a_cell_keeps_its_key_when_its_code_changes(data: Path, tmp_path: Path) -> None:
    (planned,) = cells(data, tmp_path, "Good")
    assert planned.cell is not None
    later = replace(planned.cell, revisions={"model": "other", "trainer": 1})
    assert later.key != planned.cell.key


def test_the_same_key_is_never_trained_twice(data: Path, tmp_path: Path) -> None:
    outcomes = []
    for recipe in ("medmamba", "published"):
        request = make_request(
            models_text="medmamba",
            datasets_text="uci-har",
            seeds_text="41",
            preset_name="paper",
            recipe_name=recipe,
            assignments=SMALL,
        )
        outcomes.append(execute(request, data, tmp_path / "r", Resources(device="cpu")).outcomes)
    assert outcomes == [{"ok": 1}, {"already-done": 1}]
    records, damaged = read_all(tmp_path / "r")
    assert damaged == []
    first, second = records
    assert (first.cell.recipe, second.cell.recipe) == ("medmamba", "published")
    assert (first.key, first.metrics) == (second.key, second.metrics)
