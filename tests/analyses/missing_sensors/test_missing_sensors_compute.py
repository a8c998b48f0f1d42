"""Which channels are taken away, that they are, and what the analysis says of trained cells."""

import itertools
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.analyses import store
from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.missing_sensors.compute import (
    analyse_cells,
    draw_missing,
    numbers_missing,
    without_channels,
)
from bench.analyses.missing_sensors.record import ANALYSIS, MissingSensorsRecord, Options
from bench.errors import DataError, UsageError
from bench.plan.request import make_request
from bench.results.record import Record
from bench.train.part import Part
from tests.analyses.contexts import context_for
from tests.fixtures.trained_cells import Trained

SMALL = Options(windows=40, draws=3, device="cpu")


def measured(trained: Trained, records: Sequence[Record], options: Options = SMALL) -> MissingSensorsRecord:
    return analyse_cells(context_for(ANALYSIS, trained.out, trained.data), records, options)


@pytest.fixture(scope="session")
def record(trained: Trained) -> MissingSensorsRecord:
    return measured(trained, trained.records)


@given(st.integers(2, 64))
def test_numbers_run_from_none_to_all_but_one(n_channels: int) -> None:
    numbers = numbers_missing(n_channels)
    assert numbers == sorted(set(numbers))
    assert numbers[:2] == [0, 1]
    assert numbers[-1] == n_channels - 1
    assert len(numbers) <= 8


def test_one_channel_cannot_be_spared() -> None:
    with pytest.raises(UsageError, match="a dataset of 1 channel has none to spare"):
        numbers_missing(1)


def test_draws_take_the_right_number_and_only_ever_more() -> None:
    draws = draw_missing(6, [0, 1, 3, 5], 4, np.random.default_rng(0))
    assert {number: [int(one.sum()) for one in masks] for number, masks in draws.items()} == {
        0: [0],
        1: [1] * 4,
        3: [3] * 4,
        5: [5] * 4,
    }
    for early, late in zip(draws[1], draws[3], strict=True):
        assert not (early & ~late).any()


def test_missing_channels_are_zero_and_the_rest_untouched() -> None:
    windows = np.random.default_rng(0).normal(size=(6, 4, 3)).astype(np.float32)
    kept = windows.copy()
    part = Part(windows, np.arange(6), np.array(list("abcdef")), np.array([5, 1]))
    found = without_channels(part, np.array([False, True, False]))
    batch, labels = next(found.batches(np.arange(2), 2))
    assert not batch[:, :, 1].any()
    np.testing.assert_array_equal(batch[:, :, [0, 2]], kept[[5, 1]][:, :, [0, 2]])
    assert labels.tolist() == [5, 1]
    np.testing.assert_array_equal(windows, kept)


def test_every_cell_is_measured_with_the_same_draws(record: MissingSensorsRecord) -> None:
    assert [(one.channel_dropout, one.about.seeds) for one in record.groups] == [
        (0.1, (41, 42)),
        (0.0, (41, 42)),
    ]
    for group in record.groups:
        for cell in group.cells:
            assert [len(one.f1) for one in cell.random] == [1] + [3] * (len(record.numbers) - 1)
            assert len(cell.without) == 9


def test_with_nothing_missing_it_is_the_recorded_score(trained: Trained) -> None:
    whole = measured(trained, trained.records[:1], Options(windows=10_000, draws=1, device="cpu"))
    metrics = trained.records[0].metrics
    assert metrics is not None
    assert whole.groups[0].cells[0].with_missing(0) == pytest.approx(metrics.test.f1)


def test_groups_that_differ_in_dropout_only_know_each_other(record: MissingSensorsRecord) -> None:
    on, off = record.groups
    assert on.is_same_but_for_dropout(off)
    assert not record.lacking


def settings_of(command: str) -> list[dict[str, object]]:
    """Return the settings of the cells that a printed command plans."""
    words = shlex.split(command.partition(", with")[0])
    options: dict[str, list[str]] = {}
    for name, value in itertools.pairwise(words):
        if name.startswith("--"):
            options.setdefault(name, []).append(value)
    request = make_request(
        models_text=options["--models"][0],
        datasets_text=options["--datasets"][0],
        seeds_text=options["--seeds"][0],
        preset_name=options["--preset"][0],
        recipe_name=options["--recipe"][0],
        assignments=options["--set"],
    )
    return [one.model_dump(mode="json") for one in request.settings()]


def test_what_lacks_is_named_with_the_command_that_pairs_it(trained: Trained) -> None:
    records = trained.with_dropout(0.1)
    (line,) = measured(trained, records).lacking
    what, _, command = line.partition(": ")
    assert what == "no cell of medmamba without channel dropout"
    planned = settings_of(command)
    assert [one["seed"] for one in planned] == [41, 42]
    for one, record in zip(planned, records, strict=True):
        other = record.model_copy(update={"settings": one})
        of_both = [AnalysedCells.of([cell]) for cell in (record, other)]
        assert of_both[0].changes == of_both[1].changes
        hyperparameters = {**record.settings["hyperparameters"], "channel_dropout": 0.0}
        assert one["hyperparameters"] == hyperparameters
        assert one["training"] == record.settings["training"]


def test_cells_of_different_splits_are_refused(trained: Trained) -> None:
    first = trained.records[0]
    settings = {**first.settings, "data": {**first.settings["data"], "split_seed": 7}}
    other = first.model_copy(update={"settings": settings})
    with pytest.raises(DataError, match="tested on different windows: split_seed 41 and 7"):
        measured(trained, [first, other])


def test_record_survives_its_file(record: MissingSensorsRecord, tmp_path: Path) -> None:
    store.write(tmp_path, ANALYSIS, record)
    assert store.read(tmp_path, ANALYSIS) == ([record], [])
