"""The choice among tried configurations: best validation F1, ties to the earlier, failures never."""

import pytest

from bench.plan.tuning import best, chosen
from bench.results.record import Record
from bench.settings.candidates import Candidate
from bench.settings.schema import Tuned
from tests.report.grids import Grid, write_grid


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The record of a finished cell."""
    small = Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,))
    return write_grid(tmp_path_factory.mktemp("r"), small)[0]


def tried(done: Record, score: float | None) -> Record:
    assert done.metrics is not None
    if score is None:
        return done.model_copy(
            update={"validation": None, "metrics": None, "files": {}, "outcome": "diverged"}
        )
    scores = done.metrics.val.model_copy(update={"f1": score})
    return done.model_copy(update={"validation": scores, "metrics": None, "files": {}})


def test_best_validation_f1_is_chosen_and_ties_go_to_the_earlier(done: Record) -> None:
    assert best([tried(done, 0.5), tried(done, 0.7), tried(done, 0.7)]) == Tuned(
        chosen=2, tried=3, val_f1=0.7
    )


def test_a_training_without_scores_is_never_chosen(done: Record) -> None:
    assert best([tried(done, None), tried(done, 0.0)]) == Tuned(chosen=2, tried=2, failed=1, val_f1=0.0)
    assert best([tried(done, None), tried(done, None)]) == Tuned(chosen=1, tried=2, failed=2)


def test_origin_says_why() -> None:
    origin = chosen(Candidate(2, ""), Tuned(chosen=2, tried=6, val_f1=0.9123)).origin

    assert origin == "configuration 2 of 6 tried, chosen by validation macro F1 (91.23 %)"
