"""What the tables of certainty say, and what they refuse to say."""

from pathlib import Path

import numpy as np
import pytest
import scikit_posthocs
from scipy import stats

from bench.report.figures.critical_difference import diagram
from bench.report.tables.significance import paired_table, rank_table, wins_table
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.predicted import Predicted, read_predicted
from bench.studies.suite import Suite, make_suites
from tests.report.grids import Grid, write_grid


def suite_of(out: Path) -> Suite:
    return make_suites(compare(read_all(out)[0]))[0]


def predictions_of(out: Path) -> list[Predicted]:
    return [read_predicted(out, study) for study in suite_of(out).studies]


def test_paired_difference_is_that_of_the_mean_scores(fair: Path) -> None:
    suite = suite_of(fair)
    table = paired_table(suite, predictions_of(fair), "f1", "paired")
    assert table is not None
    study = suite.studies[0]
    ours, rival = (study.groups[name].score("f1") for name in ("medmamba", "patchtst"))
    assert ours is not None
    assert rival is not None
    cell = table.rows[0].cells[0]
    assert cell.mean == pytest.approx(100 * (ours.mean - rival.mean))
    assert None not in (cell.low, cell.high)
    assert sorted([cell.low, cell.mean, cell.high]) == [cell.low, cell.mean, cell.high]  # type: ignore[type-var]


def test_intervals_are_the_same_on_a_second_run(fair: Path) -> None:
    first, second = (paired_table(suite_of(fair), predictions_of(fair), "f1", "paired") for _ in range(2))
    assert first == second


def test_few_subjects_are_said_and_never_bold(fair: Path) -> None:
    table = paired_table(suite_of(fair), predictions_of(fair), "f1", "paired")
    assert table is not None
    column = table.columns.index("APAVA")
    notes = {table.footnotes[row.cells[column].note - 1] for row in table.rows if row.cells[column].note}  # type: ignore[operator]
    assert notes == {"APAVA: 4 test subjects: too few to rank models"}
    assert all(row.cells[column].mark == "" for row in table.rows)


def test_a_rival_without_all_seeds_has_no_difference(partial: Path) -> None:
    table = paired_table(suite_of(partial), predictions_of(partial), "f1", "paired")
    assert table is not None
    cell = next(row for row in table.rows if row.label == "transformer").cells[0]
    assert cell.is_empty
    assert cell.note is not None
    assert table.footnotes[cell.note - 1] == "transformer on PTB: seed 42 timeout"


def test_without_medmamba_there_is_no_difference_to_it(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("patchtst", "transformer"), datasets=("ptb",)))
    assert paired_table(suite_of(tmp_path), predictions_of(tmp_path), "f1", "paired") is None


def test_friedman_of_the_table_is_scipys(fair: Path) -> None:
    suite = suite_of(fair)
    table = rank_table(suite, "f1", "ranks")
    assert table is not None
    means = {model: [study.groups[model].score("f1") for study in suite.studies] for model in suite.models}
    columns = [[score.mean for score in scores if score] for scores in means.values()]
    assert f"Friedman's chi2 = {stats.friedmanchisquare(*columns).statistic:.2f}" in table.caption


def test_low_power_is_said(fair: Path) -> None:
    table = rank_table(suite_of(fair), "f1", "ranks")
    assert table is not None
    assert "Low power: 6 datasets" in table.caption
    assert "can never be significant (smallest p 0.062)" in table.caption


def test_ranks_leave_out_incomplete_datasets_for_all(tmp_path: Path) -> None:
    failed = frozenset({("transformer", "ptb", 42), ("patchtst", "adftd", 41)})
    write_grid(tmp_path, Grid(recipe="medmamba", failed=failed))
    assert rank_table(suite_of(tmp_path), "f1", "ranks") is None


def test_models_of_several_protocols_are_not_ranked(full: Path) -> None:
    suite = suite_of(full)
    assert rank_table(suite, "f1", "ranks") is None
    assert wins_table(suite, "f1", "wins") is None
    assert diagram(suite, "f1") is None
    table = paired_table(suite, predictions_of(full), "f1", "paired")
    assert table is not None
    assert "Models were trained by 2 protocols, see the main results." in table.caption


def test_wins_ties_and_losses_add_up(fair: Path) -> None:
    table = wins_table(suite_of(fair), "f1", "wins")
    assert table is not None
    counts = [
        [int(cell.text or 0) for cell in row.cells[1:4]] for row in table.rows if row.label != "medmamba"
    ]
    assert [sum(one) for one in counts] == [6, 6]


def test_critical_difference_agrees_with_scikit_posthocs(fair: Path) -> None:
    suite = suite_of(fair)
    found = diagram(suite, "f1")
    assert found is not None
    scores = np.array(
        [
            [score.mean for m in found.models if (score := study.groups[m].score("f1"))]
            for study in suite.studies
        ]
    )
    p = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
    for first in range(len(found.models)):
        for second in range(first):
            apart = abs(found.ranks[first] - found.ranks[second]) > found.critical_difference
            assert apart == (p[first, second] < 0.05)


def test_three_models_are_needed_for_a_diagram(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", models=("medmamba", "patchtst")))
    assert diagram(suite_of(tmp_path), "f1") is None


def test_ranks_of_a_partial_grid_name_who_is_left_out(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("ptb", "ptb-xl")))
    write_grid(tmp_path, Grid(recipe="medmamba", models=("medformer",), datasets=("ptb",)))
    suite = suite_of(tmp_path)
    table, found = rank_table(suite, "f1", "ranks"), diagram(suite, "f1")
    assert table is not None
    assert [row.label for row in table.rows].count("medformer") == 0
    assert "medformer" in table.footnotes[0]
    assert found is not None
    assert len(found.models) == 3


def test_datasets_with_different_seeds_keep_their_wins(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("ptb",)))
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("ptb-xl",), seeds=(41, 42, 43)))
    table = wins_table(suite_of(tmp_path), "f1", "wins")
    assert table is not None
    mean, *_, better = table.rows[0].cells
    assert mean.note is not None
    assert "more seeds" in table.footnotes[mean.note - 1]
    assert better.mean is not None


def test_probability_of_improvement_has_an_interval_over_seeds(fair: Path) -> None:
    table = wins_table(suite_of(fair), "f1", "wins")
    assert table is not None
    better = table.rows[0].cells[-1]
    assert better.low is not None
    assert better.high is not None
    assert better.low <= (better.mean or 0.0) <= better.high


def test_captions_of_ranks_and_intervals_do_not_promise_deviations(fair: Path) -> None:
    suite = suite_of(fair)
    tables = [
        rank_table(suite, "f1", "r"),
        wins_table(suite, "f1", "w"),
        paired_table(suite, predictions_of(fair), "f1", "p"),
    ]
    for table in tables:
        assert table is not None
        assert "standard deviation" not in table.caption
        assert table.caption.startswith("Seeds 41, 42. ")
