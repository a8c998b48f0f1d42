"""The table and the figure of channel mixing."""

import csv
from pathlib import Path

import pytest

from bench.analyses.channel_mixing.record import (
    BeforeAfter,
    ChannelMixingRecord,
    ClassCorrelation,
    ClassDistance,
    SeedMixing,
)
from bench.analyses.channel_mixing.report import Line, correlation_lines, draw, mixing_figure, mixing_table
from bench.render.formats import to_csv
from bench.render.style import figure_style
from tests.analyses.analysed_cells import analysed

NAMES = ("control", "frontotemporal dementia", "Alzheimer's disease")


def seed_mixing(seed: int, after: float, distance: float) -> SeedMixing:
    correlation = BeforeAfter(before=0.5, after=after)
    pairs = ((NAMES[0], NAMES[1]), (NAMES[0], NAMES[2]), (NAMES[1], NAMES[2]))
    return SeedMixing(
        seed=seed,
        correlations=tuple(
            ClassCorrelation(class_name=name, signed=correlation, absolute=correlation) for name in NAMES
        ),
        distances=tuple(
            ClassDistance(first=one, second=other, norm=BeforeAfter(before=2.0, after=distance))
            for one, other in pairs
        ),
        n_undefined=3,
    )


def record_of(out: Path, dataset: str) -> ChannelMixingRecord:
    return ChannelMixingRecord(
        schema=1,
        created="2026-01-01T00:00:00+00:00",
        cells=analysed(out, dataset),
        n_entries=100,
        seeds=(seed_mixing(41, 0.4, 2.2), seed_mixing(42, 0.3, 2.6)),
        untrained=(seed_mixing(41, 0.45, 2.0), seed_mixing(42, 0.45, 2.0)),
        arrays_sha256="0" * 64,
    )


def test_row_has_both_sides_the_change_and_the_published_one(tmp_path: Path) -> None:
    table = mixing_table(record_of(tmp_path, "adftd"))
    cells = table.blocks[0].rows[0].cells
    assert table.blocks[0].rows[0].label == "CN"
    assert [cells[0].mean, cells[1].mean, cells[2].mean] == pytest.approx([0.5, 0.35, -30.0])
    assert [cell.text for cell in cells[2:]] == ["-30.0±14.1 %", "2 of 2", "-10.0±0.0 %", "-3.1 %"]


def test_published_changes_of_pairs(tmp_path: Path) -> None:
    table = mixing_table(record_of(tmp_path, "adftd"))
    published = {row.label: row.cells[5].mean for row in table.blocks[2].rows}
    assert published == {"CN - FTD": 8.9, "CN - AD": 13.1, "FTD - AD": 3.1}


def test_other_datasets_have_no_published_change(tmp_path: Path) -> None:
    record = record_of(tmp_path, "apava")
    assert all(row.cells[5].is_empty for row in mixing_table(record).rows)


def test_what_was_left_out_is_counted(tmp_path: Path) -> None:
    notes = mixing_table(record_of(tmp_path, "adftd")).footnotes
    assert any(note.startswith("3 of 100 correlations are undefined") for note in notes)


def test_figure_says_in_words_how_many_fall(tmp_path: Path) -> None:
    alt = mixing_figure(record_of(tmp_path, "adftd")).alt
    assert "falls in 3 of 3 classes, and the distance does not fall in 3 of 3 pairs" in alt


def test_figure_draws_numbers_that_are_not_known(tmp_path: Path) -> None:
    lines = correlation_lines(record_of(tmp_path, "adftd"))
    unknown = Line(("nobody",), (BeforeAfter(before=None, after=None),), ())
    with figure_style():
        figure = draw([*lines, unknown], [unknown])
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][-1] == "nobody"


def unknown(record: ChannelMixingRecord) -> ChannelMixingRecord:
    """Leave the first pair of classes without numbers, and the second with a norm over fewer entries."""

    def changed(seed: SeedMixing) -> SeedMixing:
        first, second, third = (one.model_copy(update={"n_entries": 9}) for one in seed.distances)
        first = first.model_copy(update={"norm": BeforeAfter(before=None, after=None)})
        return seed.model_copy(
            update={"distances": (first, second.model_copy(update={"n_entries": 4}), third)}
        )

    return record.model_copy(update={"seeds": tuple(map(changed, record.seeds))})


def test_a_pair_without_numbers_neither_falls_nor_rises(tmp_path: Path) -> None:
    record = unknown(record_of(tmp_path, "adftd"))
    assert mixing_table(record).blocks[2].rows[0].cells[3].is_empty
    assert "does not fall in 2 of 2 pairs" in mixing_figure(record).alt


def test_norms_over_fewer_entries_are_told(tmp_path: Path) -> None:
    notes = mixing_table(unknown(record_of(tmp_path, "adftd"))).footnotes
    assert any(note.endswith("CN - AD 4 of 9") for note in notes)


def test_csv_does_not_call_percentages_correlations(tmp_path: Path) -> None:
    lines = to_csv(mixing_table(record_of(tmp_path, "adftd"))).splitlines()
    assert {row["unit"] for row in csv.DictReader(lines)} == {"value", ""}
