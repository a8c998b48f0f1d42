"""Which comparisons stand side by side, and what they lack."""

from pathlib import Path

from bench.reports.suite import Suite, in_paper_order, make_suites
from bench.results.aggregate import compare
from bench.results.store import read_all
from tests.reports.grids import Grid, write_grid


def suites(out: Path) -> list[Suite]:
    return make_suites(compare(read_all(out)[0]))


def test_gaps_say_which_seed_and_why(partial: Path) -> None:
    suite = suites(partial)[0]
    gaps = [study.gap(model) for study in suite.studies for model in suite.models]
    assert [gap for gap in gaps if gap] == [
        "transformer on PTB: seed 42 timeout",
        "patchtst on ADFTD: seed 41 not run",
    ]


def test_complete_models_have_every_seed_of_the_dataset(partial: Path) -> None:
    study = suites(partial)[0].studies[0]
    assert (study.dataset, [model for model in study.groups if study.is_complete(model)]) == (
        "ptb",
        ["patchtst", "medmamba"],
    )


def test_models_of_the_ablation_are_not_rivals(full: Path) -> None:
    suite = suites(full)[0]
    assert suite.models == ("patchtst", "transformer", "medmamba")


def test_each_recipe_is_a_suite_of_its_own(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",)))
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), recipe="medmamba"))
    assert [suite.recipe for suite in suites(tmp_path)] == ["medmamba", "published"]


def test_real_data_is_preferred_and_never_mixed_with_simulated(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), seeds=(41,)))
    write_grid(tmp_path, Grid(datasets=("ptb",), kind="simulated", preset="demo"))
    suite = suites(tmp_path)[0]
    assert [study.record.data.kind for study in suite.studies] == ["whole"]
    assert suite.models == ("medmamba",)
    assert suite.n_left_out == 1


def test_medmamba_comes_last_and_strangers_before_it() -> None:
    assert in_paper_order(["medmamba", "zebra", "transformer", "medformer"]) == (
        "transformer",
        "medformer",
        "zebra",
        "medmamba",
    )
