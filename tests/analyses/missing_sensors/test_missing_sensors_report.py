"""The table of missing sensors: which channel is worst, what is paired, what is missing."""

from pathlib import Path

import pytest

from bench.analyses.missing_sensors.record import CellRobustness, Draws, GroupRobustness, MissingSensorsRecord
from bench.analyses.missing_sensors.report import (
    labels,
    missing_sensors_figure,
    missing_sensors_table,
    pairs,
    worst_channel,
)
from tests.analyses.analysed_cells import analysed


def cell(
    seed: int, with_none: float, with_one: tuple[float, ...], without: tuple[float, ...]
) -> CellRobustness:
    draws = (Draws(n_missing=0, f1=(with_none,)), Draws(n_missing=1, f1=with_one))
    return CellRobustness(seed=seed, key="k", random=draws, without=without)


@pytest.fixture
def record(tmp_path: Path) -> MissingSensorsRecord:
    return make(tmp_path)


def make(folder: Path) -> MissingSensorsRecord:
    """Make a record of two groups that differ in channel dropout."""
    about = analysed(folder, "ptb")
    on = GroupRobustness(
        about=about,
        hyperparameters={"d_model": 8, "channel_dropout": 0.3},
        cells=(
            cell(41, 0.8, (0.6, 0.7), (0.7, 0.5, 0.6)),
            cell(42, 0.6, (0.5, 0.5), (0.5, 0.7, 0.3)),
        ),
    )
    off = GroupRobustness(
        about=about,
        hyperparameters={"d_model": 8, "channel_dropout": 0},
        cells=(cell(41, 0.9, (0.2, 0.4), (0.1, 0.5, 0.6)),),
    )
    return MissingSensorsRecord(
        created="2026-01-01T00:00:00+00:00",
        dataset="ptb",
        channel_names=("i", "ii", "iii"),
        n_subjects=10,
        n_windows=30,
        n_windows_of_part=60,
        windows_per_class=(10, 20),
        draw_seed=41,
        n_draws=2,
        missing_channels={0: ((),), 1: (("i",), ("ii",))},
        groups=(on, off),
        lacking=("something is missing",),
    )


def row(record: MissingSensorsRecord, label: str) -> list[float | None]:
    found = next(one for one in missing_sensors_table(record).rows if one.label == label)
    return [None if one.mean is None else round(one.mean, 6) for one in found.cells]


def test_random_row_is_the_mean_over_draws_and_seeds(record: MissingSensorsRecord) -> None:
    # On: (65 + 50) / 2; off: 30; paired over seed 41 only: 65 - 30.
    assert row(record, "1, at random") == [57.5, 30.0, 35.0]


def test_difference_over_fewer_seeds_is_footnoted(record: MissingSensorsRecord) -> None:
    assert "over the seeds that both have (1)" in missing_sensors_table(record).footnotes


def test_worst_channel_is_worst_on_average_over_seeds(record: MissingSensorsRecord) -> None:
    # Means over seeds: 0.6, 0.6, 0.45.
    assert worst_channel(record.groups[0]) == 2
    assert row(record, "1, the worst") == [45.0, 10.0, None]
    assert "the channel that costs most: iii" in missing_sensors_table(record).footnotes


def test_groups_that_differ_in_more_than_dropout_are_not_paired(record: MissingSensorsRecord) -> None:
    on, off = record.groups
    wider = off.model_copy(update={"hyperparameters": {"d_model": 16, "channel_dropout": 0}})
    assert pairs(record) == [(0, 1)]
    assert pairs(record.model_copy(update={"groups": (on, wider)})) == []


def test_the_picture_names_its_dataset(record: MissingSensorsRecord) -> None:
    assert missing_sensors_figure(record).stamp == "PTB"


def test_groups_called_alike_are_numbered(record: MissingSensorsRecord) -> None:
    on, off = record.groups
    assert labels(record.model_copy(update={"groups": (on, off, off)})) == [
        "medmamba, channel dropout 0.3",
        "medmamba, channel dropout off (1)",
        "medmamba, channel dropout off (2)",
    ]


def test_chance_and_what_lacks_stand_in_the_table(record: MissingSensorsRecord) -> None:
    assert row(record, "most frequent class")[:2] == [40.0, 40.0]
    assert "something is missing" in missing_sensors_table(record).footnotes
    assert "30 test windows, drawn by class from 60" in missing_sensors_table(record).caption


def test_groups_trained_otherwise_are_told_apart_in_the_caption(record: MissingSensorsRecord) -> None:
    assert "Trained by recipe published." in missing_sensors_table(record).caption
    on, off = record.groups
    changed = on.model_copy(update={"about": on.about.model_copy(update={"changes": "epochs=3"})})
    wider = on.model_copy(update={"hyperparameters": {**on.hyperparameters, "expand": 4}})
    caption = missing_sensors_table(record.model_copy(update={"groups": (on, changed, wider, off)})).caption
    assert "medmamba, channel dropout 0.3 (2): recipe published, changed: epochs=3" in caption
    assert "medmamba, channel dropout 0.3 (3): recipe published, changed: expand=4" in caption
