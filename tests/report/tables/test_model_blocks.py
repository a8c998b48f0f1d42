"""Tables put models of the paper, beyond it, classical and users' own in blocks, each marked and ranked apart."""

import pytest

from bench.report.answer import who_wins
from bench.report.figures.critical_difference import critical_difference_figure
from bench.report.tables.brief import brief_headline
from bench.report.tables.f1_matrix import f1_matrix
from bench.report.tables.headline import headline
from bench.report.tables.main_results import main_results
from bench.report.tables.paper_tables import ecg_table, eeg_table
from bench.report.tables.significance import rank_table, wins_table
from bench.report.tables.subject_results import class_results
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.model_blocks import blocks_of, together
from bench.studies.suite import Suite, make_suites
from tests.report.grids import Grid, write_grid


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    out = tmp_path_factory.mktemp("mixed")
    models = ("medmamba", "transformer", "fcn", "tcn")
    known_as = {"tcn": "own.Net"}
    write_grid(out, Grid(recipe="medmamba", models=models, datasets=("ptb", "adftd"), known_as=known_as))
    return make_suites(compare(read_all(out)[0]))[0]


def test_each_block_has_its_heading_its_best_and_its_ranks(mixed: Suite) -> None:
    study = mixed.study("ptb")
    assert study is not None
    measured = [block for block in main_results(study, "m").blocks if block.heading.startswith("measured")]
    assert [(block.heading, [row.label for row in block.rows]) for block in measured] == [
        ("measured: models of the paper, best of this block marked", ["transformer", "medmamba"]),
        ("measured: networks beyond the paper, best of this block marked", ["fcn"]),
        ("measured: models of a user, best of this block marked", ["own.Net"]),
    ]
    assert {row.cells[3].mark for row in measured[0].rows} == {"best", "second"}
    assert measured[1].rows[0].cells[3].mark == ""


def test_ranks_say_over_which_block_they_are(mixed: Suite) -> None:
    table = ecg_table(mixed, "ecg")
    assert table is not None
    ranks = {row.label: row.cells[-1] for row in table.rows if row.cells[-1].unit == "rank"}
    assert set(ranks) == {"transformer", "medmamba"}
    assert sum(cell.mean or 0 for cell in ranks.values()) == pytest.approx(3)
    note = ranks["medmamba"].note
    assert note is not None
    assert table.footnotes[note - 1].startswith("average rank, models of the paper")
    assert any("no average rank, models of a user: one model" in text for text in table.footnotes)


def test_columns_of_models_are_headed_by_their_blocks(mixed: Suite) -> None:
    table = eeg_table(mixed, "eeg")
    assert table is not None
    spread = dict(zip(table.columns, table.column_groups, strict=True))
    assert spread["medmamba"] == spread["transformer"] == "models of the paper"
    assert spread["fcn"] == "networks beyond the paper"
    assert spread["majority class"] == "chance"
    assert sum(width for _, width in table.groups) == len(table.columns)


def test_what_compares_blocks_with_each_other_names_them(mixed: Suite) -> None:
    """Ranks, wins, differences and the headline are over all models; one block alone needs no sentence."""
    three = "together: models of the paper, networks beyond the paper, models of a user."
    ranks = rank_table(mixed, "f1", "r")
    wins = wins_table(mixed, "f1", "w")
    figure = critical_difference_figure(mixed, "f1", "c")
    assert ranks is not None
    assert wins is not None
    assert figure is not None
    for caption in (ranks.caption, figure.caption):
        assert f"Ranked {three}" in caption
    for text in (wins.caption, headline(mixed, {}, "h").caption, brief_headline(mixed, {}, "b").caption):
        assert f"Compared {three}" in text
    assert f"Compared {three}" in who_wins(mixed, {})
    for study in mixed.studies:
        assert f"Marked {three}" in class_results(study, "c").caption
    matrix = f1_matrix(mixed, "m")
    assert matrix is not None
    assert matrix.blocks[1].heading == "measured: networks beyond the paper, best of this block marked"
    assert together(["medmamba", "transformer"], "Ranked") == ""


def test_a_changed_model_stands_with_its_own() -> None:
    assert blocks_of(["dummy", "medmamba (dropout=0.3)", "x.Y", "braindecode.Any"]) == {
        "models of the paper": ("medmamba (dropout=0.3)",),
        "classical estimators": ("dummy",),
        "networks of braindecode": ("braindecode.Any",),
        "models of a user": ("x.Y",),
    }
