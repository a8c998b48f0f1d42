"""Predicted costs: from trials by arithmetic, from records of the same kind and place; and several workers."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.plan.cost import (
    DOUBT_OF_TRIALS,
    Cost,
    Place,
    Trial,
    commonest_place,
    cost_from_trial,
    costs_from_records,
    describe_cost,
    describe_total,
    memory_warning,
    same_but_seed,
    wall_time_s,
)
from bench.plan.grid import PlannedCell
from bench.results.record import Epoch, Record
from bench.results.store import CellFolder
from tests.plan.test_cell import make_cell
from tests.results.test_store import make_record

HERE = Place(device="cpu", device_name="c", threads=1)
TRIAL = Trial(
    start_s=0.5,
    load_s=1.0,
    build_s=0.5,
    first_step_s=0.5,
    train_window_s=(0.012, 0.01, 0.008),
    eval_window_s=(0.001, 0.001),
    score_s=0.5,
    checkpoint_s=0.25,
    memory_before_bytes=100,
    memory_by_step=((1, 150), (2, 180)),
    memory_bytes=190,
)


def planned(**assignments: object) -> PlannedCell:
    cell = make_cell(recipe="medmamba", **assignments)  # type: ignore[arg-type]
    return PlannedCell(cell.settings, "to do", cell)


def record(
    tmp_path: Path, total_s: float, *, train_s: float = 0.0, epochs_s: tuple[float, ...] = ()
) -> Record:
    """Return a finished cell like those of `planned`."""
    made = make_record(CellFolder(tmp_path / "cell"), make_cell().key)
    history = tuple(
        Epoch(epoch=i, train_loss=1, val_loss=1, val_f1=0, learning_rate=1, seconds=s)
        for i, s in enumerate(epochs_s, 1)
    )
    return made.model_copy(
        update={
            "settings": planned().settings.model_dump(mode="json"),
            "timing": made.timing.model_copy(update={"total_s": total_s, "train_s": train_s}),
            "history": history,
        }
    )


def test_a_trial_is_multiplied_by_epochs_and_windows() -> None:
    cost = cost_from_trial(planned(epochs=10), TRIAL)
    # Start, load, build, first step, score; ten epochs of two windows each part; validation and test at the end.
    assert cost.seconds == pytest.approx(3.0 + 10 * (2 * 0.01 + 2 * 0.001 + 0.25) + 4 * 0.001)
    assert (cost.memory_bytes, cost.source, cost.at_most) == (190, "a trial", False)


def test_a_trial_with_fewer_windows_is_less_sure() -> None:
    whole, part = (cost_from_trial(planned(batch_size=n), TRIAL) for n in (2, 1))
    assert whole.doubt == part.doubt
    fewer = cost_from_trial(planned(), replace(TRIAL, memory_by_step=((1, 150),)))
    assert fewer.doubt > whole.doubt
    assert fewer.source == "a trial with 1 of 2 windows"


def test_memory_grows_with_windows_and_not_with_what_every_step_holds() -> None:
    # 120 bytes before windows, 30 a window; evaluation took 190.
    assert [TRIAL.memory_of(n_windows) for n_windows in (1, 2, 10)] == [190, 190, 420]


def test_memory_of_a_single_step_grows_as_if_all_of_it_were_windows() -> None:
    assert replace(TRIAL, memory_by_step=((1, 150),)).memory_of(4) == 150 + 3 * 50


def test_a_slow_minute_does_not_move_a_forecast() -> None:
    disturbed = replace(TRIAL, train_window_s=(0.5, 0.01, 0.01, 0.01, 0.01, 0.008, 0.01, 0.012))
    assert cost_from_trial(planned(), disturbed).seconds == cost_from_trial(planned(), TRIAL).seconds
    assert cost_from_trial(planned(), disturbed).doubt == DOUBT_OF_TRIALS


def test_training_that_may_stop_early_takes_at_most_so_long() -> None:
    assert cost_from_trial(planned(patience=3), TRIAL).at_most
    assert not cost_from_trial(planned(patience=3, epochs=3), TRIAL).at_most


def test_records_of_other_seeds_tell_and_other_settings_do_not(tmp_path: Path) -> None:
    costs = costs_from_records([record(tmp_path, 10.0), record(tmp_path, 12.0)], HERE)
    cost = costs[same_but_seed(planned(seed=45))]
    assert (cost.seconds, cost.source) == (11.0, "2 records")
    assert same_but_seed(planned(epochs=3)) not in costs


def test_records_of_another_place_do_not_tell(tmp_path: Path) -> None:
    assert costs_from_records([record(tmp_path, 10.0)], replace(HERE, threads=4)) == {}


def test_a_resumed_cell_counts_the_epochs_before_its_death(tmp_path: Path) -> None:
    resumed = record(tmp_path, 4.0, train_s=2.0, epochs_s=(2.0, 2.0, 2.0))
    assert costs_from_records([resumed], HERE)[same_but_seed(planned())].seconds == 8.0


def test_records_of_other_data_do_not_tell(tmp_path: Path) -> None:
    (costs,) = costs_from_records([record(tmp_path, 10.0)], HERE)
    other = make_cell(recipe="medmamba", fingerprint="f1")
    assert costs == same_but_seed(planned())
    assert costs != same_but_seed(PlannedCell(other.settings, "to do", other))


def test_a_cell_whose_data_is_not_prepared_is_like_no_record(tmp_path: Path) -> None:
    settings = planned().settings
    assert same_but_seed(PlannedCell(settings, "not prepared")) not in costs_from_records(
        [record(tmp_path, 10.0)], HERE
    )


def test_a_record_that_lacked_memory_does_not_tell(tmp_path: Path) -> None:
    halved = record(tmp_path, 10.0).model_copy(update={"micro_batch_size_used": 8})
    assert costs_from_records([halved], HERE) == {}


def test_costs_are_told_with_time_memory_and_doubt() -> None:
    costs = [
        Cost(seconds=s, memory_bytes=m << 30, doubt=0.1, source="1 record") for s, m in ((60, 1), (30, 2))
    ]
    assert describe_cost(costs[0]) == "60.0 s, 1.0 GiB, give or take 10 % (1 record)"
    assert describe_total([*costs, None], 2) == [
        "in all: 90.0 s of cells, 60.0 s with --jobs 2 (from 54.5 s to 66.0 s), at most 2.0 GiB a cell, "
        "3.0 GiB at once",
        "not counted: 1 cells whose cost is unknown",
    ]


@pytest.mark.parametrize(
    ("n_workers", "gib", "remedy"),
    [
        (2, 7, None),
        (3, 5.5, "set --jobs 2"),
        (3, 3.5, "set --jobs 1"),
        (1, 1, "set --jobs 1 --set micro_batch_size=8"),
    ],
)
def test_cells_that_do_not_fit_at_once_are_warned_of(n_workers: int, gib: float, remedy: str | None) -> None:
    costs = [Cost(seconds=1.0, memory_bytes=size * 2**30, doubt=0.1, source="a trial") for size in (1, 2, 3)]
    lines = memory_warning([*costs, None], n_workers, int(gib * 2**30))
    assert [line.partition(" are free: ")[2].partition(" (")[0] for line in lines] == [remedy] * (
        remedy is not None
    )


def test_no_finished_record_has_no_place() -> None:
    assert commonest_place([]) is None


def test_workers_take_cells_in_turn() -> None:
    assert wall_time_s([3, 1, 1, 1], 2) == 3
    assert wall_time_s([], 2) == 0
