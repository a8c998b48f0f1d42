"""The tidy table has every score of every cell, and says which belong together."""

import io
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

from bench.results.metrics import METRICS
from bench.results.store import read_all
from bench.studies.tidy import TidyRow, as_csv, as_frame, tidy_rows
from tests.report.grids import Grid, write_grid


@pytest.fixture(scope="module")
def rows(partial: Path) -> list[TidyRow]:
    return tidy_rows(read_all(partial)[0])


def test_every_score_has_its_row_and_cells_without_scores_have_theirs(
    rows: list[TidyRow], partial: Path
) -> None:
    records = {record.key: record for record in read_all(partial)[0]}
    assert len(rows) == len(records) * 2 * len(METRICS)
    for row in rows:
        metrics = records[row.key].metrics
        assert row.value == (None if metrics is None else metrics.model_dump()[row.part][row.metric])
        assert (partial / row.folder / "record.json").is_file()
    assert {(row.model, row.seed) for row in rows if row.value is None and row.metric == "f1"} == {
        ("transformer", 42)
    }


def test_a_condition_is_shared_by_what_is_compared(tmp_path: Path) -> None:
    grid = {"models": ("medmamba", "transformer"), "datasets": ("ptb",), "seeds": (41,)}
    write_grid(tmp_path, Grid(**grid))
    write_grid(tmp_path, Grid(**grid, kind="simulated", preset="demo"))
    frame = as_frame(tidy_rows(read_all(tmp_path)[0]))
    assert frame.groupby("condition")["model"].nunique().tolist() == [2, 2]
    assert frame.groupby("condition")["data_kind"].nunique().tolist() == [1, 1]


def test_records_of_an_earlier_revision_are_superseded(tmp_path: Path) -> None:
    (record,) = write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,)))
    newer = record.model_copy(update={"key": "1" * 64, "revisions": {"model": 2, "trainer": 1}})
    rows = tidy_rows([record, newer])
    assert {(row.model_revision, row.superseded) for row in rows} == {("1", True), ("2", False)}


def test_the_file_beside_the_report_has_the_same_rows(
    rows: list[TidyRow], reported: tuple[Path, Result]
) -> None:
    text = (reported[0] / "cells.csv").read_text(encoding="utf-8")
    assert text == as_csv(rows)
    read = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values={"value": [""]}, dtype=str)
    assert read["value"].astype(float).equals(as_frame(rows)["value"])
