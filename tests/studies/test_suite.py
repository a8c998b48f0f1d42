"""Which comparisons stand side by side, and what they lack."""

from pathlib import Path

from bench.paper.names import in_paper_order
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.caption import data_remarks
from bench.studies.ranks import Scores, complete_scores
from bench.studies.suite import Study, Suite, make_suites
from tests.report.grids import ABLATIONS, Grid, write_grid


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


def written(tmp_path: Path, *grids: Grid) -> Study:
    for grid in grids:
        write_grid(tmp_path, grid)
    return suites(tmp_path)[0].studies[0]


def test_a_further_seed_of_one_model_leaves_the_others_complete(tmp_path: Path) -> None:
    study = written(
        tmp_path, Grid(datasets=("ptb",)), Grid(models=("medmamba",), datasets=("ptb",), seeds=(46,))
    )
    assert study.seeds == (41, 42)
    assert all(map(study.is_complete, study.groups))
    assert study.groups["medmamba"].seeds == (41, 42)
    assert "medmamba on PTB: 1 further seed left out (46), which others lack" in data_remarks(study)


def test_further_seeds_of_a_reduced_model_do_not_count(tmp_path: Path) -> None:
    study = written(
        tmp_path, Grid(datasets=("adftd",)), Grid(models=ABLATIONS, datasets=("adftd",), seeds=(41, 46))
    )
    assert study.seeds == (41, 42)


def test_seeds_that_half_of_the_models_have_count_if_they_are_the_papers(tmp_path: Path) -> None:
    two = ("medmamba", "transformer")
    first = Grid(models=two, datasets=("ptb",), missing=frozenset({("transformer", "ptb", 42)}))
    study = written(tmp_path, first, Grid(models=("transformer",), datasets=("ptb",), seeds=(47,)))
    assert study.seeds == (41, 42)
    assert study.gap("transformer") == "transformer on PTB: seed 42 not run"


def test_a_model_with_other_seeds_alone_is_shown_as_lacking_all(tmp_path: Path) -> None:
    study = written(
        tmp_path, Grid(datasets=("ptb",)), Grid(models=("medformer",), datasets=("ptb",), seeds=(7,))
    )
    assert study.gap("medformer") == "medformer on PTB: seed 41 not run, seed 42 not run"


def test_reduced_models_on_other_data_do_not_hide_the_full_ones(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=ABLATIONS, datasets=("adftd",), kind="whole"))
    write_grid(tmp_path, Grid(datasets=("adftd",), kind="simulated"))
    suite = suites(tmp_path)[0]
    assert [study.kind for study in suite.studies] == ["simulated"]
    assert suite.n_left_out == 1


def ranked(tmp_path: Path) -> Scores:
    suite = suites(tmp_path)[0]
    return complete_scores(suite.studies, suite.models, ("f1",))


def test_a_model_on_one_dataset_is_dropped_from_ranks_rather_than_the_datasets(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("ptb", "ptb-xl", "adftd")))
    write_grid(tmp_path, Grid(recipe="medmamba", models=("medformer",), datasets=("ptb",)))
    found = ranked(tmp_path)
    assert found.models == ("patchtst", "transformer", "medmamba")
    assert [dataset for dataset, _ in found.rows] == ["ptb", "ptb-xl", "adftd"]
    assert found.left_out == "medformer (incomplete on a dataset that the others have): same cells for all"


def test_a_dataset_on_which_many_fail_is_dropped_rather_than_the_models(tmp_path: Path) -> None:
    failed = frozenset({("patchtst", "adftd", 41), ("transformer", "adftd", 42)})
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("ptb", "ptb-xl", "adftd"), failed=failed))
    found = ranked(tmp_path)
    assert len(found.models) == 3
    assert found.left_out == "ADFTD (a model is incomplete there): same cells for all"


def test_without_a_common_dataset_nothing_is_ranked(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", models=("medmamba",), datasets=("ptb",)))
    write_grid(tmp_path, Grid(recipe="medmamba", models=("patchtst",), datasets=("adftd",)))
    assert ranked(tmp_path).rows == ()
