"""The page's first sentences say who wins, by how much, how sure, and what failed."""

from pathlib import Path

from bench.paper.claims import ledger
from bench.report.answer import verdicts, what_failed, who_wins
from bench.report.judges import make_judges
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.predicted import read_predicted
from bench.studies.suite import make_suites
from tests.report.grids import Grid, write_grid


def winner(out: Path, grid: Grid) -> str:
    """Write a grid and return who wins on it."""
    write_grid(out, grid)
    suite = make_suites(compare(read_all(out)[0]))[0]
    return who_wins(suite, {study.dataset: read_predicted(out, study) for study in suite.studies})


def test_one_dataset_names_the_best_its_lead_and_how_sure(tmp_path: Path) -> None:
    said = winner(tmp_path, Grid(recipe="medmamba", datasets=("ptb",), sizes={"ptb": (12, 6)}))
    assert "On PTB (2 classes) the best of 3 models is transformer with 86.8 % macro F1" in said
    assert "medmamba trails transformer by" in said
    assert "95% interval of the difference -" in said
    assert "How sure: " in said


def test_several_datasets_name_the_best_of_each_and_count_what_is_sure(tmp_path: Path) -> None:
    said = winner(tmp_path, Grid(recipe="medmamba", datasets=("ptb", "adftd")))
    assert "MedMamba has the highest macro F1 on 1 of 2 datasets. Best in percent: PTB" in said
    assert "lead over its best rival in points: PTB -" in said


def test_models_of_several_protocols_have_no_best(tmp_path: Path) -> None:
    said = winner(tmp_path, Grid(datasets=("ptb",)))
    assert "the models were trained by different protocols, so none is named best" in said


def test_failures_are_told_with_the_reason_of_the_first(tmp_path: Path) -> None:
    failed = frozenset({("patchtst", "ptb", 41), ("patchtst", "ptb", 42)})
    records = write_grid(tmp_path, Grid(datasets=("ptb",), failed=failed))
    said = what_failed(records)
    assert said.startswith("2 of 6 cells failed (2 timeout); the first, patchtst on PTB, seed 41: ")
    assert "no end after <60> s" in said
    assert what_failed([record for record in records if record.is_done]) == "None of 4 cells failed."


def test_verdicts_are_those_of_the_ledger(tmp_path: Path) -> None:
    claims = ledger(make_judges(tmp_path, ()))
    counts = [int(word) for word in verdicts(claims).split() if word.isdigit()]
    assert sum(counts) == len(claims)
