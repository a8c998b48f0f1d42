"""What differs between two results folders, and whether it matters."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.cli.compare import command
from bench.errors import RecordError
from bench.results.record import Failure, Record
from bench.results.store import CellFolder, read_all, write_record
from bench.studies.compare_sets import Difference, compare_sets
from tests.report.grids import Grid, write_grid

GRID = Grid(models=("medmamba",), datasets=("ptb",))


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    """Two equal results folders."""
    for name in ("first", "second"):
        write_grid(tmp_path / name, GRID)
    return tmp_path / "first", tmp_path / "second"


def change(out: Path, edit: Callable[[Record], dict[str, Any]]) -> None:
    """Rewrite the record of seed 41 with changed fields."""
    record = next(one for one in read_all(out)[0] if one.cell.seed == 41)
    changed = record.model_copy(update=edit(record))
    folder = CellFolder.of(out, record.cell, record.key)
    if changed.key != record.key:
        folder.record.unlink()
        folder = CellFolder.of(out, changed.cell, changed.key)
    write_record(folder, changed)


def other_f1(points: float) -> Callable[[Record], dict[str, Any]]:
    def edit(record: Record) -> dict[str, Any]:
        assert record.metrics is not None
        test = record.metrics.test.model_copy(update={"f1": record.metrics.test.f1 + points / 100})
        return {"metrics": record.metrics.model_copy(update={"test": test})}

    return edit


def other_device(record: Record) -> dict[str, Any]:
    return {"environment": record.environment.model_copy(update={"device": "cuda", "device_name": "H100"})}


def failing(_: Record) -> dict[str, Any]:
    return {"outcome": "diverged", "metrics": None, "error": Failure(kind="DivergedError", message="nan")}


def only(sets: tuple[Path, Path]) -> Difference:
    found = [one for one in compare_sets(*sets) if one.kind != "equal"]
    assert len(found) == 1
    return found[0]


def test_equal_sets_have_no_difference(sets: tuple[Path, Path]) -> None:
    found = compare_sets(*sets)
    assert [(one.kind, one.matters, one.points) for one in found] == [("equal", False, 0.0)] * 2


def test_same_key_and_environment_must_give_the_same_numbers(sets: tuple[Path, Path]) -> None:
    change(sets[1], other_f1(0.001))
    found = only(sets)
    assert (found.kind, found.matters) == ("numbers", True)
    assert found.points == pytest.approx(0.001)


def without_auprc(record: Record) -> dict[str, Any]:
    assert record.metrics is not None
    test = record.metrics.test.model_copy(update={"auprc": None})
    return {"metrics": record.metrics.model_copy(update={"test": test})}


def test_a_score_that_one_set_lacks_makes_no_difference(sets: tuple[Path, Path]) -> None:
    change(sets[1], without_auprc)
    assert {found.kind for found in compare_sets(*sets)} == {"equal"}


def test_a_difference_below_that_of_seeds_on_another_device_does_not_matter(sets: tuple[Path, Path]) -> None:
    change(sets[1], lambda record: other_f1(0.01)(record) | other_device(record))
    found = only(sets)
    assert (found.kind, found.matters) == ("environment", False)
    assert "device cpu -> cuda" in found.detail


def test_a_difference_above_that_of_seeds_matters_on_any_device(sets: tuple[Path, Path]) -> None:
    change(sets[1], lambda record: other_f1(30)(record) | other_device(record))
    assert (only(sets).kind, only(sets).matters) == ("environment", True)


def test_equal_numbers_on_another_device_are_equal(sets: tuple[Path, Path]) -> None:
    change(sets[1], other_device)
    assert [one.kind for one in compare_sets(*sets)] == ["equal", "equal"]


def test_changed_settings_are_named(sets: tuple[Path, Path]) -> None:
    def edit(record: Record) -> dict[str, Any]:
        training = record.settings["training"] | {"epochs": 3}
        return {"key": "f" * 64, "settings": record.settings | {"training": training}}

    change(sets[1], edit)
    found = only(sets)
    assert (found.kind, found.matters) == ("settings", True)
    assert "training.epochs 50 -> 3" in found.detail


def test_another_outcome_matters(sets: tuple[Path, Path]) -> None:
    change(sets[1], failing)
    assert (only(sets).kind, only(sets).detail) == ("outcome", "ok, then diverged")


def test_seeds_of_another_recipe_say_nothing_of_the_spread(tmp_path: Path) -> None:
    both = tmp_path / "first", tmp_path / "second"
    for out in both:
        for recipe, seeds in (("published", (41,)), ("medformer", (42, 43))):
            write_grid(out, Grid(models=("medmamba",), datasets=("ptb",), seeds=seeds, recipe=recipe))
    change(both[1], lambda record: other_f1(0.6)(record) | other_device(record))
    assert only(both).matters
    assert "0.5 points assumed" in only(both).detail


def test_cells_that_failed_alike_have_no_numbers(sets: tuple[Path, Path]) -> None:
    for out in sets:
        change(out, failing)
    found = [one for one in compare_sets(*sets) if one.points is None]
    assert [(one.kind, one.detail) for one in found] == [("equal", "both diverged, same environment")]


def test_a_smaller_micro_batch_used_explains_other_numbers(sets: tuple[Path, Path]) -> None:
    change(sets[1], lambda record: other_f1(0.01)(record) | {"micro_batch_size_used": 64})
    assert only(sets).kind == "environment"
    assert "micro-batch used None -> 64" in only(sets).detail


def test_cells_of_one_set_only_are_named(sets: tuple[Path, Path], tmp_path: Path) -> None:
    write_grid(tmp_path / "first", Grid(models=("patchtst",), datasets=("ptb",), seeds=(41,)))
    found = only(sets)
    assert (found.kind, found.cell) == ("only in the first", "patchtst / ptb / seed 41 / published")


def test_of_several_settings_of_a_cell_the_nearest_is_named(tmp_path: Path) -> None:
    both = tmp_path / "first", tmp_path / "second"
    grid = {"models": ("medmamba",), "datasets": ("ptb",), "seeds": (41,)}
    write_grid(both[0], Grid(**grid))
    for preset in ("quick", "demo"):
        write_grid(both[1], Grid(**grid, preset=preset))
    first, *second = compare_sets(*both)
    assert (first.kind, [line.kind for line in second]) == ("only in the first", ["only in the second"] * 2)
    assert "the most similar cell of the other set differs in: " in first.detail
    assert "training.epochs 50 -> " in first.detail
    assert all("-> 50" in line.detail for line in second)


def test_a_folder_without_records_is_refused(sets: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="nothing: no record of a finished cell"):
        compare_sets(sets[0], tmp_path / "nothing")


def test_command_is_silent_on_equal_cells_and_exits_0(sets: tuple[Path, Path]) -> None:
    result = CliRunner().invoke(command, [str(sets[0]), str(sets[1])])
    assert result.exit_code == 0
    assert result.stdout == "2 cells: 2 equal\ndifferences that matter: none\n"


def test_command_exits_1_when_it_matters(sets: tuple[Path, Path]) -> None:
    change(sets[1], other_f1(1.0))
    result = CliRunner().invoke(command, [str(sets[0]), str(sets[1])])
    assert result.exit_code == 1
    assert "differences that matter: 1" in result.stdout
    assert "+1.00" in result.stdout
