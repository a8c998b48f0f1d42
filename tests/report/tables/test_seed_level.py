"""Tests over seeds stand apart from what the number of test subjects allows."""

from pathlib import Path

import pytest
from scipy import stats

from bench.report.tables.seed_level import seed_table
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.suite import Suite, make_suites
from tests.report.grids import Grid, write_grid

SEEDS = (41, 42, 43, 44, 45)


def suite_of(out: Path) -> Suite:
    (suite,) = make_suites(compare(read_all(out)[0]))
    return suite


def test_both_tests_are_those_of_the_scores_over_seeds(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", "patchtst"), datasets=("ptb", "apava"), seeds=SEEDS))
    suite = suite_of(tmp_path)
    table = seed_table(suite, "f1", "seeds")
    assert table is not None
    groups = next(study for study in suite.studies if study.dataset == "ptb").groups
    ours, others = (list(groups[model].by_seed("f1").values()) for model in ("medmamba", "patchtst"))
    column = 2 * [name for name, _ in table.groups].index("PTB")
    first, second = table.rows[0].cells[column : column + 2]
    assert first.text == f"{stats.ttest_ind(ours, others, equal_var=False)[1]:.2g}"
    exact = stats.permutation_test((ours, others), lambda a, b: sum(a) / 5 - sum(b) / 5, n_resamples=300)
    assert second.text == f"{exact.pvalue:.2g}"


def test_limits_of_seeds_and_of_subjects_are_told_apart(tmp_path: Path) -> None:
    write_grid(
        tmp_path,
        Grid(models=("medmamba", "patchtst"), datasets=("apava",), seeds=SEEDS, sizes={"apava": (4, 30)}),
    )
    table = seed_table(suite_of(tmp_path), "f1", "seeds")
    assert table is not None
    assert "APAVA 0.0079 by permutation of 10 scores, 0.12 by signs of 4 test subjects" in table.caption


@pytest.mark.parametrize(
    ("seeds", "notes"),
    [
        ((41,), ["PTB: no interval and no verdict from 1 seed; train at least two, better five"]),
        (
            tuple(range(1, 12)),
            [
                "PTB: exact test: 705432 splits of 22 scores, at most 200000 are gone through; use Welch's test for so "
                "many seeds"
            ],
        ),
    ],
    ids=["too few for Welch", "too many to permute"],
)
def test_a_test_that_cannot_be_made_says_why(
    seeds: tuple[int, ...], notes: list[str], tmp_path: Path
) -> None:
    write_grid(tmp_path, Grid(models=("medmamba", "patchtst"), datasets=("ptb",), seeds=seeds))
    table = seed_table(suite_of(tmp_path), "f1", "seeds")
    assert table is not None
    assert list(table.footnotes) == notes
    assert table.rows[0].cells[-1].is_empty


def test_a_rival_without_all_seeds_has_no_test(partial: Path) -> None:
    table = seed_table(suite_of(partial), "f1", "seeds")
    assert table is not None
    row = next(row for row in table.rows if row.label == "transformer")
    assert row.cells[0].is_empty
    assert "transformer on PTB: seed 42 timeout" in table.footnotes


def test_without_medmamba_nothing_is_tested(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("patchtst", "transformer"), datasets=("ptb",)))
    assert seed_table(suite_of(tmp_path), "f1", "seeds") is None
