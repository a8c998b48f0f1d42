"""Trained cells are found, loaded and tested again as they were, or refused with the reason."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from bench.analyses import trained as cells
from bench.datasets.simulate.cohort import simulate
from bench.errors import DataError, RecordError
from bench.results.predictions import load_predictions
from bench.results.store import CellFolder, write_record
from bench.train.evaluate import predict
from tests.fixtures.trained_cells import Trained


@pytest.fixture
def copy(trained: Trained, tmp_path: Path) -> Trained:
    """A results folder that a test may damage."""
    shutil.copytree(trained.out, tmp_path / "out")
    return Trained(tmp_path / "out", trained.data, trained.records)


def test_cells_are_sorted_by_seed_in_groups_that_differ_in_nothing_else(trained: Trained) -> None:
    groups = cells.alike(cells.trained_cells(trained.out, "medmamba", "uci-har"))
    seeds = [[one.cell.seed for one in group] for group in groups]
    rates = [group[0].settings["hyperparameters"]["channel_dropout"] for group in groups]
    assert seeds == [[41, 42], [41, 42]]
    # Of the two the first has fewer changed settings.
    assert rates == [0.1, 0.0]


def test_real_data_come_before_simulated_and_unchanged_settings_before_more_seeds(trained: Trained) -> None:
    simulated, real = trained.records[:2]
    real = real.model_copy(
        update={"data": real.data.model_copy(update={"kind": "whole", "fingerprint": "f" * 64})}
    )
    assert cells.alike([simulated, *trained.records[2:], real])[0] == [real]
    assert cells.alike(trained.records)[0] == trained.with_dropout(0.1)


def test_loaded_model_gives_the_recorded_predictions_bit_for_bit(trained: Trained) -> None:
    record = trained.records[0]
    part = cells.test_part(record, trained.data)
    logits = predict(cells.load_trained(trained.out, record), part, 16, record.cell.seed)
    recorded = load_predictions(trained.out, record)
    np.testing.assert_array_equal(logits, recorded.logits)
    np.testing.assert_array_equal(part.part_labels, recorded.label)


def test_parts_of_a_record_share_no_subject(trained: Trained) -> None:
    data = cells.trained_data(trained.records[0], trained.data)
    subjects = [set(data.part(name).part_subjects) for name in ("train", "validation", "test")]
    assert not subjects[0] & subjects[1] | subjects[0] & subjects[2] | subjects[1] & subjects[2]


def test_no_cell_is_an_error_with_the_command_that_trains_one(trained: Trained) -> None:
    there = "there are --models medmamba --datasets uci-har"
    with pytest.raises(
        RecordError, match=f"no trained transformer on uci-har; {there}.*; or run 'bench run --models transf"
    ):
        cells.trained_cells(trained.out, "transformer", "uci-har")


def test_cells_of_an_earlier_revision_are_left_out_and_counted(copy: Trained) -> None:
    for record in copy.records:
        old = record.model_copy(update={"revisions": {**record.revisions, "model": 0}})
        write_record(CellFolder.of(copy.out, record.cell, record.key), old)
    with pytest.raises(RecordError, match="4 are of an earlier revision of the model"):
        cells.trained_cells(copy.out, "medmamba", "uci-har")


def test_changed_weights_are_refused(copy: Trained) -> None:
    record = copy.records[0]
    path = CellFolder.of(copy.out, record.cell, record.key).weights
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(RecordError, match="SHA-256 is"):
        cells.load_trained(copy.out, record)


def test_lost_weights_are_refused(copy: Trained) -> None:
    record = copy.records[0]
    CellFolder.of(copy.out, record.cell, record.key).weights.unlink()
    with pytest.raises(RecordError, match="no such file, though the record names it"):
        cells.load_trained(copy.out, record)


def test_weights_of_another_shape_are_refused(trained: Trained) -> None:
    record = trained.records[0]
    settings = {**record.settings, "hyperparameters": {**record.settings["hyperparameters"], "d_model": 8}}
    with pytest.raises(RecordError, match="not the weights of medmamba"):
        cells.load_trained(trained.out, record.model_copy(update={"settings": settings}))


def test_other_data_are_refused(trained: Trained, tmp_path: Path) -> None:
    simulate("uci-har", tmp_path, n_subjects=4, seconds=8.0, seed=2)
    with pytest.raises(DataError, match="its windows are not those that medmamba"):
        cells.trained_data(trained.records[0], tmp_path)
