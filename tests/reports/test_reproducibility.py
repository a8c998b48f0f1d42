"""The checklist says what its records say, and what the paper's grid has that they have not."""

from pathlib import Path

import pytest

from bench.reports.contents import Contents
from bench.reports.reproducibility import checklist
from bench.reports.suite import make_suites
from bench.results.aggregate import compare
from bench.results.record import Record
from tests.reports.grids import Grid, write_grid

GRID = Grid(models=("medmamba", "transformer"), datasets=("ptb",), seeds=(41, 42))


@pytest.fixture
def records(tmp_path: Path) -> list[Record]:
    return write_grid(tmp_path, GRID)


def answers(records: list[Record], heading: str, question: str) -> tuple[str, ...]:
    contents = Contents(
        records=tuple(records),
        suites=tuple(make_suites(compare(records))),
        sections=(),
        main=(),
        damaged=(),
    )
    return next(one.answers for one in checklist(contents)[heading] if one.question.startswith(question))


def test_what_the_paper_ran_and_this_grid_did_not_is_missing(records: list[Record]) -> None:
    (lacking,) = answers(records, "What is missing", "Cells that the grid lacks")
    assert "models of the paper not run: autoformer" in lacking
    assert "datasets not run: ADFTD" in lacking


def test_compute_counts_what_was_trained_before_an_interruption(records: list[Record]) -> None:
    one = records[0]
    slow = tuple(epoch.model_copy(update={"seconds": 3600.0}) for epoch in one.history)
    resumed = one.model_copy(update={"history": slow})
    (before,), (after,) = (
        answers([some, *records[1:]], "Infrastructure and compute", "Time of all cells")
        for some in (one, resumed)
    )
    assert float(after.split()[0]) - float(before.split()[0]) == pytest.approx(4, abs=0.05)
