"""Remarks point at the cells of the published tables that contradict something, and at no others."""

import pytest

from bench.paper import published
from bench.paper.published import PublishedScore
from bench.paper.remarks import remarks


def all_remarks() -> dict[tuple[str, str, str], tuple[str, ...]]:
    cells = ((score.dataset, score.model, score.metric) for score in published.main_results())
    return {cell: remarks(*cell) for cell in cells}


def test_the_three_rows_that_medmamba_does_not_win() -> None:
    lost = {
        cell for cell, found in all_remarks().items() if any("not the best" in remark for remark in found)
    }
    assert lost == {
        ("ptb", "medmamba", "precision"),
        ("sleep-edf", "medmamba", "accuracy"),
        ("sleep-edf", "medmamba", "recall"),
    }


def test_the_winner_of_a_lost_row_is_named() -> None:
    assert remarks("ptb", "medmamba", "precision") == ("not the best of its row: itransformer has 88.25",)


def test_the_three_impossible_f1_scores() -> None:
    impossible = {
        cell for cell, found in all_remarks().items() if any("impossible" in remark for remark in found)
    }
    assert impossible == {("uci-har", model, "f1") for model in ("crossformer", "nonformer", "patchtst")}


def test_recalls_that_repeat_the_accuracy() -> None:
    repeated = {
        cell for cell, found in all_remarks().items() if any("accuracy's" in remark for remark in found)
    }
    assert repeated == {("uci-har", model, "recall") for model in ("reformer", "transformer", "medformer")}


def test_the_papers_marks_agree_with_its_numbers() -> None:
    assert not [found for found in all_remarks().values() if any("marked as" in remark for remark in found)]


def test_a_mark_that_the_numbers_contradict_is_remarked(monkeypatch: pytest.MonkeyPatch) -> None:
    row = (
        PublishedScore("d", "medmamba", "recall", 80.0, 1.0, True, "t"),
        PublishedScore("d", "transformer", "recall", 81.0, 1.0, False, "t"),
    )
    monkeypatch.setattr(published, "main_results", lambda: row)
    monkeypatch.setattr(published, "models", lambda: ("medmamba", "transformer"))
    monkeypatch.setattr(published, "_index", lambda: {(s.dataset, s.model, s.metric): s for s in row})
    assert "marked as the best of its row, whose highest mean is 81.00" in remarks("d", "medmamba", "recall")
    assert remarks("d", "transformer", "recall") == (
        "not marked as the best of its row, whose highest mean is 81.00",
    )


def test_an_unprinted_cell_has_no_remark() -> None:
    assert remarks("ptb", "medmamba", "auprc") == ()
