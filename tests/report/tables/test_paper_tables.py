"""The paper's tables: both orientations, published rows apart, partial grids never shown as whole."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench.paper import published
from bench.paper.names import in_paper_order
from bench.render.table import Cell, Table
from bench.report.tables.headline import headline
from bench.report.tables.main_results import main_results
from bench.report.tables.paper_tables import ecg_table, eeg_table
from bench.report.tables.setup_tables import dataset_summary, model_configuration
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.predicted import read_predicted
from bench.studies.suite import Suite, make_suites
from tests.report.grids import Grid, write_grid


def suite_of(out: Path) -> Suite:
    return make_suites(compare(read_all(out)[0]))[0]


def ecg(out: Path) -> Table:
    table = ecg_table(suite_of(out), "ecg")
    assert table is not None
    return table


def eeg(out: Path) -> Table:
    table = eeg_table(suite_of(out), "eeg")
    assert table is not None
    return table


def cells(table: Table, block: str, row: str) -> tuple[Cell, ...]:
    found = next(one for one in table.blocks if one.heading.startswith(block))
    return next(one.cells for one in found.rows if one.label == row)


def test_ecg_table_has_models_as_rows_and_two_datasets_side_by_side(full: Path) -> None:
    table = ecg(full)
    assert [heading for heading, _ in table.groups] == ["PTB (2 classes)", "PTB-XL (5 classes)", "Average"]
    assert [row.label for row in table.blocks[0].rows] == list(in_paper_order(published.models()))
    assert len(table.columns) == 13


def test_eeg_table_has_metrics_as_rows_and_models_as_columns(full: Path) -> None:
    table = eeg(full)
    assert table.columns == (*in_paper_order(published.models()), "majority class", "stratified guess")
    assert [row.label for row in table.blocks[0].rows] == [
        "Accuracy",
        "Precision",
        "Recall",
        "F1",
        "AUROC",
        "AUPRC",
    ]
    assert [block.heading.split()[0] for block in table.blocks[::2]] == [
        "ADFTD",
        "APAVA",
        "Sleep-EDF",
        "UCI-HAR",
        "measured,",
    ]


def test_numbers_are_the_means_of_the_records(full: Path) -> None:
    records = [one for one in read_all(full)[0] if (one.cell.model, one.cell.dataset) == ("medmamba", "ptb")]
    values = [100 * one.metrics.test.f1 for one in records if one.metrics]
    cell = cells(ecg(full), "measured", "medmamba")[3]
    assert (cell.mean, cell.std) == (pytest.approx(np.mean(values)), pytest.approx(np.std(values, ddof=1)))


def test_published_numbers_stand_in_a_block_that_says_so(full: Path) -> None:
    score = published.lookup("ptb", "medmamba", "accuracy")
    assert score is not None
    assert cells(ecg(full), "published", "medmamba")[0] == Cell(score.mean, score.std)
    measured = [cell.mean for row in ecg(full).blocks[0].rows for cell in row.cells]
    assert score.mean not in measured


def test_remarks_on_published_numbers_are_footnotes(full: Path) -> None:
    cell = cells(ecg(full), "published", "medmamba")[1]
    assert cell.note is not None
    assert "itransformer has 88.25" in ecg(full).footnotes[cell.note - 1]


def test_a_failed_seed_is_a_dash_with_its_reason(partial: Path) -> None:
    table = ecg(partial)
    row = cells(table, "measured", "transformer")[:6]
    assert all(cell.is_empty for cell in row)
    assert {table.footnotes[cell.note - 1] for cell in row if cell.note} == {
        "transformer on PTB: seed 42 timeout"
    }


def test_a_missing_seed_is_a_dash_with_its_reason(partial: Path) -> None:
    table = eeg(partial)
    first = cells(table, "ADFTD (3", "Accuracy")[table.columns.index("patchtst")]
    assert first.is_empty
    assert first.note is not None
    assert table.footnotes[first.note - 1] == "patchtst on ADFTD: seed 41 not run"


def test_models_of_the_paper_that_were_not_run_are_dashes_with_a_footnote(full: Path) -> None:
    table = ecg(full)
    row = cells(table, "measured", "autoformer")
    assert all(cell.is_empty for cell in row)
    assert {table.footnotes[cell.note - 1] for cell in row if cell.note} == {"not run"}
    assert cells(table, "published", "autoformer")[0].mean is not None


def test_models_of_the_paper_are_missed_under_its_recipe_only(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(datasets=("ptb",), recipe="medformer"))
    assert [row.label for row in ecg(tmp_path).blocks[0].rows] == ["patchtst", "transformer", "medmamba"]
    assert not any("not run" in note for note in ecg(tmp_path).footnotes)


def test_a_dataset_of_the_table_that_was_not_run_is_named(partial: Path) -> None:
    assert "not run: PTB-XL" in ecg(partial).footnotes
    assert "not run: APAVA, Sleep-EDF, UCI-HAR" in eeg(partial).footnotes


def test_table_of_a_dataset_names_the_papers_models_that_were_not_run(partial: Path) -> None:
    notes = main_results(suite_of(partial).studies[0], "main-ptb").footnotes
    assert any(note.startswith("models of the paper not run: autoformer, crossformer") for note in notes)


def ranks_of(table: Table) -> dict[str, Cell]:
    """Return the average rank of each model that was run."""
    return {row.label: row.cells[-1] for row in table.blocks[0].rows if row.label in Grid().models}


def test_an_incomplete_model_has_no_rank(tmp_path: Path) -> None:
    write_grid(
        tmp_path,
        Grid(recipe="medmamba", datasets=("ptb",), failed=frozenset({("transformer", "ptb", 42)})),
    )
    table = ecg(tmp_path)
    ranks = ranks_of(table)
    assert {model: rank.mean for model, rank in ranks.items() if model != "medmamba"}["transformer"] is None
    note = ranks["medmamba"].note
    assert note is not None
    assert "without transformer" in table.footnotes[note - 1]


def test_ranks_are_over_the_datasets_on_which_all_are_complete(tmp_path: Path) -> None:
    gaps = frozenset({("patchtst", "ptb-xl", 41), ("transformer", "ptb-xl", 42)})
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("ptb", "ptb-xl"), missing=gaps))
    table = ecg(tmp_path)
    run = [row for row in table.blocks[0].rows if row.label in Grid().models]
    scores = np.array([[cell.mean for cell in row.cells[:6]] for row in run], dtype=float)
    ranks = [row.cells[-1] for row in run]
    expected = (-scores).argsort(axis=0).argsort(axis=0).mean(axis=1) + 1
    assert [rank.mean for rank in ranks] == pytest.approx(list(expected))
    assert ranks[0].note is not None
    assert "without PTB-XL" in table.footnotes[ranks[0].note - 1]


def test_models_of_different_protocols_have_no_rank(full: Path) -> None:
    table = ecg(full)
    ranks = ranks_of(table).values()
    assert {rank.mean for rank in ranks} == {None}
    assert "no average rank: not one protocol" in table.footnotes


def test_best_average_rank_is_the_lowest(fair: Path) -> None:
    ranks = ranks_of(ecg(fair)).values()
    best = min(ranks, key=lambda cell: cell.mean or 0.0)
    assert best.mark == "best"


def test_incomplete_means_stand_apart_in_the_table_of_the_dataset(partial: Path) -> None:
    table = main_results(suite_of(partial).studies[0], "main-ptb")
    apart = next(block for block in table.blocks if "fewer seeds" in block.heading)
    assert [row.label for row in apart.rows] == ["transformer"]
    assert all(not cell.mark and cell.note for cell in apart.rows[0].cells)


def test_chance_is_in_every_main_table(full: Path) -> None:
    assert cells(ecg(full), "chance", "majority class")[0].mean == pytest.approx(50.0)
    assert cells(eeg(full), "ADFTD (3", "Accuracy")[-1].mean == pytest.approx(100 / 3)


def test_captions_name_seeds_deviation_data_and_device(full: Path) -> None:
    caption = ecg(full).caption
    for text in (
        "ddof 1",
        "seeds 41, 42",
        "Data: whole, split published, test subjects: PTB 12, PTB-XL 12",
        "Test CPU (cpu)",
        "Recipe: published",
    ):
        assert text in caption


def test_simulated_data_is_named_in_headings_and_captions(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(kind="simulated", preset="demo"))
    for table in (ecg(tmp_path), eeg(tmp_path)):
        assert "SIMULATED" in table.caption
        assert "SIMULATED" in " ".join(
            [*(heading for heading, _ in table.groups), *(b.heading for b in table.blocks)]
        )


def test_few_test_subjects_are_flagged(full: Path) -> None:
    assert any(
        note.startswith("APAVA: 4 test subjects: too few to rank models") for note in eeg(full).footnotes
    )


def test_dataset_summary_marks_counts_that_are_not_the_papers(full: Path) -> None:
    table = dataset_summary(suite_of(full), "datasets")
    counts = cells(table, "used here", "PTB (2 classes)")
    assert (counts[0].text, counts[0].note, counts[2].text, counts[2].note) == ("36", 1, "2", None)
    assert counts[0].mean == 36


def test_dataset_summary_has_both_blocks_in_one_order_and_the_modality(full: Path) -> None:
    used, printed = dataset_summary(suite_of(full), "datasets").blocks
    assert [row.label.split(" (")[0] for row in used.rows] == [row.label for row in printed.rows]
    assert [row.cells[-1].text for row in printed.rows][:3] == ["ECG", "ECG", "EEG"]


def test_configuration_agrees_with_the_paper(full: Path) -> None:
    table = model_configuration(suite_of(full), "configuration")
    assert table is not None
    for row in table.blocks[0].rows:
        published_row = cells(table, "published", row.label)
        if row.label == "FFN expansion":
            assert all(cell.is_empty and cell.note == 1 for cell in row.cells)
            assert {cell.text for cell in published_row} == {"4"}
        else:
            assert row.cells == published_row
    assert table.footnotes == ("fixed in the model's code: no record confirms the published value",)


def test_configuration_of_a_changed_run_is_marked(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), kind="simulated", preset="demo"))
    table = model_configuration(suite_of(tmp_path), "configuration")
    assert table is not None
    cell = cells(table, "as run here", "Hidden dim")[0]
    assert (cell.text, cell.note) == ("32", 1)
    assert table.footnotes[0] == "differs from the published value"


def test_headline_names_the_best_and_how_sure(fair: Path) -> None:
    table = headline_of(fair)
    row = next(row for row in table.rows if row.label.startswith("PTB (")).cells
    measured = ecg(fair).blocks[0].rows
    best = next(one for one in measured if one.cells[3].mark == "best")
    assert (row[0].text, row[1].mean) == (best.label, best.cells[3].mean)
    apava = next(row for row in table.rows if row.label.startswith("APAVA")).cells
    assert apava[7].text == "too few subjects to say"


def headline_of(out: Path) -> Table:
    suite = suite_of(out)
    return headline(suite, {one.dataset: read_predicted(out, one) for one in suite.studies}, "headline")


def test_headline_has_what_a_guess_gives_and_says_when_the_best_is_no_better(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("ptb-xl",)))
    table = headline_of(tmp_path)
    assert table.rows[0].cells[4].mean == pytest.approx(20.0)
    for path in (tmp_path / "cells").rglob("record.json"):
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        content["metrics"]["test"]["f1"] = 0.19
        path.write_text(json.dumps(content), encoding="utf-8")
    assert headline_of(tmp_path).rows[0].cells[7].text == "best is no better than a guess"


def test_headline_without_medmamba_sets_the_best_against_the_second(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(models=("patchtst", "transformer"), datasets=("ptb",)))
    table = headline_of(tmp_path)
    first, second, lead = (table.rows[0].cells[place] for place in (1, 3, 6))
    assert first.mean is not None
    assert second.mean is not None
    assert lead.mean == pytest.approx(first.mean - second.mean)
    assert lead.note is not None
    assert "no complete MedMamba" in table.footnotes[lead.note - 1]


def test_headline_of_one_test_subject_has_no_interval(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(recipe="medmamba", datasets=("sleep-edf",), sizes={"sleep-edf": (1, 20)}))
    lead, sure = headline_of(tmp_path).rows[0].cells[6:8]
    assert (lead.low, lead.high) == (None, None)
    assert lead.mean is not None
    assert sure.text == "too few subjects to say"


def test_headline_says_a_remark_on_few_subjects_once(full: Path) -> None:
    notes = headline_of(full).footnotes
    assert len([note for note in notes if note.startswith("APAVA")]) == 1


def test_caption_says_settings_that_datasets_share_once(tmp_path: Path) -> None:
    write_grid(tmp_path, Grid(datasets=("ptb-xl", "uci-har", "ptb"), kind="simulated", preset="demo"))
    caption = headline_of(tmp_path).caption
    assert caption.count("learning_rate=0.002") == caption.count("; on ") + 1 <= 2
