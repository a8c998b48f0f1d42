"""Which reading of the paper comes closest, and that the table says so, or that none does."""

import pytest

from bench.analyses.centralization.record import CentralizationRecord, Choice, Measure
from bench.analyses.centralization.report import (
    centralization_table,
    choices_table,
    closeness,
    closest,
    in_order,
)
from bench.paper import published

WINDOW = Choice(index="sci", unit="window", scaling="raw", reading="as printed")
RECORDING = Choice(index="sci", unit="recording", scaling="raw", reading="as printed")
DIC = Choice(index="dic", unit="window", scaling="raw", reading="as printed")
PRINTED = {one.dataset: one for one in published.centralization()}


def measured(choice: Choice, mean: float, n_undefined: int = 0) -> Measure:
    return Measure(
        choice=choice,
        mean=mean,
        std=0.1,
        low=mean - 0.1,
        high=mean + 0.1,
        n_units=50,
        n_undefined=n_undefined,
    )


def record(
    dataset: str,
    sci: float,
    *,
    other: float = 0.1,
    kind: str = "whole",
    n_blocks: int = 20,
    n_undefined: int = 0,
) -> CentralizationRecord:
    """Make a record; DIC is as published where it is."""
    dic = PRINTED[dataset].dic if dataset in PRINTED else 0.5
    return CentralizationRecord.model_validate(
        {
            "created": "2026-01-01T00:00:00+00:00",
            "dataset": dataset,
            "title": dataset,
            "kind": kind,
            "version": "1",
            "fingerprint": "f",
            "n_channels": 4,
            "n_times": 96,
            "n_windows": 50,
            "n_recordings": 5,
            "blocks": "subjects",
            "n_blocks": n_blocks,
            "level": 0.95,
            "n_resamples": 10,
            "seed": 41,
            "measures": (
                measured(WINDOW, sci, n_undefined),
                measured(RECORDING, other),
                measured(DIC, dic),
            ),
        }
    )


def test_closest_choice_is_the_one_with_the_smallest_mean_difference() -> None:
    found = closeness([record("ptb", 0.60), record("weather", 0.40)])
    best = closest(found, "sci")
    assert best.choice == WINDOW
    assert best.mean == pytest.approx(0.02)
    assert best.differences == pytest.approx({"ptb": -0.02, "weather": 0.02})


def test_verdict_says_that_no_choice_is_close() -> None:
    records = [record("ptb", 0.30), record("weather", 0.40)]
    text = choices_table(records, closeness(records)).caption
    assert "No choice comes within 0.05 of every published SCI." in text
    assert "No choice comes within 0.05 of every published DIC." not in text


def test_both_indices_are_compared_by_one_unit_and_scaling() -> None:
    # SCI alone is nearest by recording, which has no DIC; both together are told by window.
    records = [record("ptb", 0.30, other=0.62), record("weather", 0.40, other=0.38)]
    found = closeness(records)
    assert closest(found, "sci").choice == RECORDING
    table = choices_table(records, found)
    (row,) = table.blocks[2].rows
    assert row.label == DIC.label
    assert row.cells[1].mean == pytest.approx(0.32)
    assert "Closest in both by one unit, scaling and reading: window, raw, as printed" in table.caption
    assert "None comes within 0.05 of every published number." in table.caption


def test_every_dataset_has_its_difference() -> None:
    records = [record("ptb", 0.30), record("weather", 0.40)]
    table = choices_table(records, closeness(records))
    assert table.columns[4:] == ("PTB", "Weather")
    assert [cell.mean for cell in table.blocks[0].rows[0].cells[4:]] == pytest.approx([-0.32, 0.02])


def test_verdict_counts_choices_under_which_medical_signals_are_above_weather() -> None:
    records = [record("ptb", 0.60), record("weather", 0.40)]
    assert "above Weather in SCI under 1 of 2 choices" in choices_table(records, closeness(records)).caption


@pytest.mark.parametrize(("kind", "n_blocks"), [("simulated", 20), ("excerpt", 9)])
def test_simulated_data_and_few_subjects_say_nothing_of_the_paper(kind: str, n_blocks: int) -> None:
    found = closeness([record("ptb", 0.60, kind=kind, n_blocks=n_blocks), record("weather", 0.40)])
    assert set(found[0].differences) == {"weather"}


def test_few_subjects_are_named() -> None:
    table = centralization_table([record("ptb", 0.6, n_blocks=9)], [])
    assert table.footnotes == ("PTB: fewer than 10 subjects, not used in comparing with the paper",)


def test_published_values_stand_in_rows_of_their_own() -> None:
    table = centralization_table([record("ptb", 0.6), record("uci-har", 0.5)], [])
    quoted = next(block for block in table.blocks if "published" in block.heading)
    assert [cell.mean for cell in quoted.rows[0].cells] == [0.62, None]


def test_units_without_variance_are_footnoted() -> None:
    table = centralization_table([record("ptb", 0.6, n_undefined=3)], [])
    assert "PTB: 3 of 53 units without variance are left out" in table.footnotes


def test_weather_stands_last_of_the_known_datasets() -> None:
    names = ("own", "weather", "adftd")
    assert [one.dataset for one in in_order([record(name, 0.5) for name in names])] == [
        "adftd",
        "weather",
        "own",
    ]


def test_cells_that_need_another_reading_are_named() -> None:
    records = [record("ptb", PRINTED["ptb"].sci), record("weather", 0.40)]
    caption = choices_table(records, closeness(records)).caption
    assert (
        "No single reading gives all 4 numbers to the printed digit, so the table is not reproduced"
        in caption
    )
    assert "another reading is needed for SCI of Weather." in caption


def test_one_reading_of_two_datasets_is_not_the_table() -> None:
    records = [record(name, PRINTED[name].sci) for name in ("ptb", "weather")]
    caption = choices_table(records, closeness(records)).caption
    assert f"all 4 numbers here of the table's {2 * len(PRINTED)}, too few to reproduce it" in caption


def test_a_record_from_before_a_scaling_says_so() -> None:
    (choice,) = (WINDOW.model_copy(update={"scaling": "unscaled"}),)
    newer = record("weather", 0.4)
    newer = newer.model_copy(update={"measures": (*newer.measures, measured(choice, 0.4))})
    table = centralization_table([record("ptb", 0.6), newer], [])
    assert "measured before this scaling was added" in table.footnotes
