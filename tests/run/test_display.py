"""The progress of a run: what is left is told from the work done, and a cell that goes on shows its epochs."""

from pathlib import Path

import pytest

from bench.run.cells import train_cell
from bench.run.display import LINE_S, LiveDisplay, PlainDisplay, Work, n_windows_of
from bench.run.ended import Ended
from bench.run.job import Job
from bench.run.news import Position, now_and_then
from bench.run.pool import Finished, Progress, Started
from tests.run.conftest import jobs_of


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def jobs(data: Path, tmp_path: Path) -> list[Job]:
    """Two cells of ten epochs."""
    return jobs_of(data, tmp_path, "Good", "Raises", sets=("epochs=10",))


def test_the_time_left_follows_from_a_quarter_of_an_epoch(jobs: list[Job]) -> None:
    clock = Clock()
    work = Work(jobs, clock)
    assert work.time_left() == ""
    for event in (Started(jobs[0]), Progress(jobs[0], Position(0.0)), Progress(jobs[0], Position(0.25))):
        work.follow(event)
    clock.now = 1.0
    # A quarter of one of twenty epochs took a second: 79 quarters are left.
    assert work.time_left() == "about 1 min 19 s left"


def test_epochs_of_a_checkpoint_are_no_work_of_this_run(jobs: list[Job]) -> None:
    clock = Clock()
    work = Work(jobs, clock)
    for epochs in (9.0, 9.5):
        work.follow(Progress(jobs[0], Position(epochs)))
    clock.now = 10.0
    # Half an epoch took ten seconds; half an epoch and the other cell's ten are left.
    assert work.time_left() == "about 3 min 30 s left"


def test_cells_that_come_later_are_time_left(jobs: list[Job]) -> None:
    clock = Clock()
    work = Work(jobs[:1], clock, n_windows_later=2 * n_windows_of(jobs[0]))
    for epochs in (0.0, 5.0):
        work.follow(Progress(jobs[0], Position(epochs)))
    clock.now = 5.0
    assert work.time_left() == "about 25 s left"
    work.follow(Finished(jobs[0], Ended(outcome="ok")))
    assert work.time_left() == "about 20 s left"


def test_a_cell_that_starts_anew_has_its_work_again(jobs: list[Job]) -> None:
    clock = Clock()
    work = Work(jobs[:1], clock)
    for event in (Progress(jobs[0], Position(0.0)), Progress(jobs[0], Position(5.0)), Started(jobs[0])):
        work.follow(event)
    work.follow(Progress(jobs[0], Position(0.0)))
    clock.now = 5.0
    assert work.time_left() == "about 10 s left"


def test_nothing_is_left_of_cells_that_have_ended(jobs: list[Job]) -> None:
    work = Work(jobs[:1], Clock())
    work.follow(Progress(jobs[0], Position(0.0)))
    work.follow(Progress(jobs[0], Position(3.0)))
    work.follow(Finished(jobs[0], Ended("ok", test_f1=0.5)))
    assert work.time_left() == ""


def test_a_log_shows_a_resumed_cells_epochs_and_a_line_a_minute(
    jobs: list[Job], capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    shown = PlainDisplay(Work(jobs[:1], clock))
    for seconds, epochs in ((0, 3.0), (LINE_S / 2, 3.5), (LINE_S, 4.0), (LINE_S + 1, 4.1)):
        clock.now = float(seconds)
        shown.event(Progress(jobs[0], Position(epochs, 0.25)))
    label = jobs[0].cell.label
    assert capsys.readouterr().err.splitlines() == [
        f"{label}: continues after epoch 3 of 10",
        f"{label}: 4.0 of 10 epochs, validation F1 25.00 %, about 6 min 0 s left",
    ]


def test_a_terminal_shows_movement_within_an_epoch_with_units(jobs: list[Job]) -> None:
    live = LiveDisplay(Work(jobs))
    live.event(Started(jobs[0]))
    live.event(Progress(jobs[0], Position(1.25, 0.5)))
    rows = {task.description: task.fields["amount"] for task in live.bars.tasks}
    assert rows == {"cells": "0 of 2 cells", jobs[0].cell.label: "1.2 of 10 epochs"}


def test_positions_within_an_epoch_are_told_now_and_then() -> None:
    told = list[Position]()
    tell = now_and_then(told.append, period_s=60.0)
    for epochs in (0.1, 0.2):
        tell(Position(epochs))
    assert told == [Position(0.1)]


def test_a_training_tells_its_steps_and_where_it_goes_on(
    jobs: list[Job], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (job,) = jobs_of(data, tmp_path, "Good", sets=("epochs=3", "batch_size=8"))
    monkeypatch.setattr(train_cell, "now_and_then", lambda tell: tell)
    job.folder.path.mkdir(parents=True)

    class EnoughError(Exception):
        pass

    first = list[Position]()

    def stop_after_an_epoch(position: Position) -> None:
        first.append(position)
        if position.epochs >= 1.5:
            raise EnoughError

    with pytest.raises(EnoughError):
        train_cell.run_cell(job, stop_after_an_epoch)
    assert first[0] == Position(0.0)
    assert 0 < first[1].epochs < 1
    second = list[Position]()
    train_cell.run_cell(job, second.append)
    assert second[0].epochs == 1.0
    assert second[0].val_f1 is not None
    assert second[-1].epochs == 3.0


def test_the_first_seconds_of_a_worker_are_no_training(jobs: list[Job]) -> None:
    clock = Clock()
    work = Work(jobs[:1], clock)
    work.follow(Started(jobs[0]))
    clock.now = 100.0
    work.follow(Progress(jobs[0], Position(0.0)))
    clock.now = 110.0
    work.follow(Progress(jobs[0], Position(5.0)))
    assert work.time_left() == "about 10 s left"
