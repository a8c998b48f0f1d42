"""Scores under several normalisations stand side by side, and only where nothing else differs."""

from pathlib import Path

import pytest

from bench.render.table import Table
from bench.report.tables.by_normalisation import normalisation_tables
from bench.results.record import Record
from bench.studies.aggregate import compare
from tests.report.grids import Grid, write_grid

GRID = Grid(models=("medmamba", "patchtst"), datasets=("ptb",))


def under(record: Record, normalisation: str, lower: float) -> Record:
    """Return a record of the same cell under another normalisation, with an F1 that is lower by so many points."""
    assert record.metrics is not None
    settings = record.settings
    test = record.metrics.test.model_copy(update={"f1": record.metrics.test.f1 - lower / 100})
    return record.model_copy(
        update={
            "settings": settings
            | {
                "data": settings["data"] | {"normalisation": normalisation},
                "origins": settings["origins"] | {"normalisation": "--set"},
                "changed": [*settings["changed"], "normalisation"],
            },
            "data": record.data.model_copy(update={"normalisation": normalisation}),
            "metrics": record.metrics.model_copy(update={"test": test}),
        }
    )


def table_of(records: list[Record]) -> Table:
    (table,) = normalisation_tables(compare(records))
    return table


def test_a_row_has_every_normalisation_and_its_range(tmp_path: Path) -> None:
    records = write_grid(tmp_path, GRID)
    table = table_of([*records, *(under(record, "none", 2.5) for record in records)])
    assert table.columns == ("none", "within each window", "range")
    assert [row.label for row in table.rows] == ["patchtst", "medmamba", "range over models"]
    without, within, spread = table.rows[0].cells
    assert without.mean is not None
    assert within.mean == pytest.approx(without.mean + 2.5)
    assert spread.mean == pytest.approx(2.5)
    means = [row.cells[0].mean or 0 for row in table.rows[:2]]
    assert table.rows[2].cells[0].mean == pytest.approx(max(means) - min(means))
    assert "normalisation=" not in table.caption


def test_models_run_under_one_normalisation_only_are_left_out(tmp_path: Path) -> None:
    records = write_grid(tmp_path, GRID)
    some = [under(record, "channel", 0) for record in records if record.cell.model == "medmamba"]
    assert [row.label for row in table_of([*records, *some]).rows] == ["medmamba", "range over models"]


def test_a_missing_seed_is_said(tmp_path: Path) -> None:
    records = write_grid(tmp_path, GRID)
    others = [under(record, "none", 0) for record in records]
    third = [
        under(record, "channel", 0)
        for record in records
        if record.cell.seed == 41 or "mamba" in record.cell.model
    ]
    table = table_of([*records, *others, *third])
    assert table.footnotes == ("by the training windows' channels: patchtst on PTB: seed 42 not run",)


def test_changed_epochs_of_networks_part_no_estimators(tmp_path: Path) -> None:
    def changed(record: Record) -> Record:
        settings = record.settings
        of_epochs = {
            "training": settings["training"] | {"epochs": 5},
            "origins": settings["origins"] | {"epochs": "--set"},
            "changed": [*settings["changed"], "epochs"],
        }
        return record.model_copy(update={"settings": settings | of_epochs})

    def fitted(record: Record) -> Record:
        settings = record.settings | {"training": {}}
        return record.model_copy(update={"settings": settings, "fitted_state": None})

    records = write_grid(tmp_path, GRID)
    networks = [changed(record) for record in records if record.cell.model == "medmamba"]
    estimators = [fitted(record) for record in records if record.cell.model == "patchtst"]
    table = table_of([*networks, *estimators, *(under(record, "none", 1) for record in estimators)])
    assert [row.label for row in table.rows] == ["patchtst", "range over models"]
    assert table.columns == ("none", "within each window", "range")
    assert None not in (table.rows[0].cells[0].mean, table.rows[0].cells[1].mean)


def test_models_of_one_normalisation_each_make_no_table(tmp_path: Path) -> None:
    records = write_grid(tmp_path, GRID)
    ours, others = ([r for r in records if r.cell.model == model] for model in ("medmamba", "patchtst"))
    assert normalisation_tables(compare([*ours, *(under(record, "none", 0) for record in others)])) == []


def test_one_normalisation_makes_no_table(tmp_path: Path) -> None:
    assert normalisation_tables(compare(write_grid(tmp_path, GRID))) == []
