"""The checklist says what its records say, and what the paper's grid has that they have not."""

import pytest

from bench.report.contents import read_contents
from bench.report.reproducibility import Checklist, checklist
from bench.results.store import CellFolder, write_record
from tests.report.grids import Grid, write_grid

GRID = Grid(models=("medmamba", "transformer"), datasets=("ptb",), seeds=(41,))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Checklist:
    """The checklist of two cells of a minute, one of which went on after three hours of epochs."""
    out = tmp_path_factory.mktemp("results")
    first, _ = write_grid(out, GRID)
    slow = tuple(epoch.model_copy(update={"seconds": 3600.0}) for epoch in first.history[:3])
    write_record(CellFolder.of(out, first.cell, first.key), first.model_copy(update={"history": slow}))
    return checklist(read_contents(out))


def answers(filled: Checklist, heading: str, question: str) -> tuple[str, ...]:
    return next(one.answers for one in filled[heading] if one.question.startswith(question))


def test_what_the_paper_ran_and_this_grid_did_not_is_missing(filled: Checklist) -> None:
    (lacking,) = answers(filled, "What is missing", "Cells that the grid lacks")
    assert "models of the paper not run: autoformer" in lacking
    assert "datasets not run: ADFTD" in lacking


def test_compute_counts_what_was_trained_before_an_interruption(filled: Checklist) -> None:
    assert answers(filled, "Infrastructure and compute", "Time of all") == ("3.02 hours, 2 cells",)
    assert answers(filled, "Infrastructure and compute", "Longest") == ("medmamba / ptb / seed 41: 10803 s",)
