"""When patience ends a training, by records of the same model: of the same data first, under the same patience only."""

from pathlib import Path

import pytest

from bench.plan.cost import cost_from_trial
from bench.plan.patience import stopping_from_records
from bench.results.record import CellName, DataDescription, Record
from tests.plan.test_cost import TRIAL, planned, record

PATIENT = {"epochs": 50, "patience": 10}


def stopped(
    tmp_path: Path, n_epochs: int, *, model: str = "transformer", fingerprint: str = "f0", **settings: object
) -> Record:
    """Return a finished cell that took so many epochs."""
    made = record(tmp_path, 10.0, epochs_s=(1.0,) * n_epochs)
    data: DataDescription = made.data.model_copy(update={"fingerprint": fingerprint})
    update = {
        "cell": CellName(model=model, dataset="ptb-xl", seed=41, recipe="medmamba"),
        "settings": planned(**{**PATIENT, **settings}).settings.model_dump(mode="json"),
        "data": data,
    }
    return made.model_copy(update=update)


def test_records_of_the_same_data_tell_alone(tmp_path: Path) -> None:
    records = [stopped(tmp_path, 20), stopped(tmp_path, 30), stopped(tmp_path, 50, fingerprint="f1")]
    found = stopping_from_records(planned(**PATIENT), records)
    assert found is not None
    assert (found.epochs, found.source) == (25, "25 epochs by 2 records")


def test_records_of_other_data_tell_where_there_is_no_other_and_are_less_sure(tmp_path: Path) -> None:
    same, other = (
        stopping_from_records(planned(**PATIENT), [stopped(tmp_path, 20, fingerprint=name)])
        for name in ("f0", "f1")
    )
    assert same is not None
    assert other is not None
    assert (other.epochs, other.source) == (20, "20 epochs by 1 record of other data")
    assert other.doubt > same.doubt


@pytest.mark.parametrize("other", [{"model": "patchtst"}, {"patience": 5}, {"epochs": 40}])
def test_other_models_and_other_patience_do_not_tell(tmp_path: Path, other: dict) -> None:
    assert stopping_from_records(planned(**PATIENT), [stopped(tmp_path, 20, **other)]) is None


def test_a_training_without_patience_takes_all_its_epochs(tmp_path: Path) -> None:
    assert stopping_from_records(planned(epochs=50), [stopped(tmp_path, 20)]) is None


def test_a_forecast_counts_the_epochs_of_records(tmp_path: Path) -> None:
    cell = planned(**PATIENT)
    stopping = stopping_from_records(cell, [stopped(tmp_path, 20), stopped(tmp_path, 30)])
    whole, told = cost_from_trial(cell, TRIAL), cost_from_trial(cell, TRIAL, stopping)
    an_epoch_s = (whole.seconds - told.seconds) / 25
    assert an_epoch_s == pytest.approx(2 * 0.01 + 2 * 0.001 + 0.25)
    assert (whole.at_most, told.at_most) == (True, False)
    assert told.doubt > whole.doubt
    assert told.source == "a trial, 25 epochs by 2 records"
