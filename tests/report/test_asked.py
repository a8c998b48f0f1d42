"""The tables of the cells that a run asked for: of these alone, with what distinguishes them in the title."""

from pathlib import Path

from bench.report import asked_tables
from tests.report.grids import Grid, write_grid

SMALL = Grid(models=("medmamba", "transformer"), datasets=("adftd",))


def test_the_cells_asked_for_are_shown_under_their_own_settings(tmp_path: Path) -> None:
    asked = write_grid(tmp_path, Grid(models=SMALL.models, datasets=SMALL.datasets, preset="quick"))
    published = write_grid(tmp_path, SMALL)
    quick = asked[0].settings["training"]["epochs"]
    assert quick != published[0].settings["training"]["epochs"]
    table, head = asked_tables(tmp_path, {record.key for record in asked})
    assert head.title.startswith("Who wins where")
    assert f"epochs={quick}" in table.title
    assert "patience" not in table.title
    (other, _) = asked_tables(tmp_path, {record.key for record in published})
    assert f"epochs={published[0].settings['training']['epochs']}" in other.title


def test_another_recipe_is_named_alone(tmp_path: Path) -> None:
    asked = write_grid(tmp_path, SMALL)
    write_grid(tmp_path, Grid(models=SMALL.models, datasets=SMALL.datasets, recipe="medformer"))
    (table, _) = asked_tables(tmp_path, {record.key for record in asked})
    assert table.title.endswith("(recipe published)")


def test_only_the_models_asked_for_are_shown(tmp_path: Path) -> None:
    asked = write_grid(tmp_path, Grid(models=("medmamba",), datasets=("adftd",)))
    write_grid(tmp_path, Grid(models=("transformer",), datasets=("adftd",)))
    (table, _) = asked_tables(tmp_path, {record.key for record in asked})
    assert [row.label for row in table.blocks[0].rows] == ["medmamba", "chance"]
    assert table.title == "Macro F1 in percent, mean over seeds, recipe published"


def test_a_folder_without_other_cells_needs_no_tables_of_its_own(tmp_path: Path) -> None:
    asked = write_grid(tmp_path, SMALL)
    assert asked_tables(tmp_path, {record.key for record in asked}) == ()
